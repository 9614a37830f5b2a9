"""Start an agent once: who plays, prompt, argv and record. `core/decisions` decides when."""
