"""One start of an agent: who plays, its prompt, argv and record. When is `core/decisions`."""
