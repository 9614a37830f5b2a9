"""The offline agent's user interface, and its conversations with their files."""
