"""Keys, screens, control sequences and text width, pure. Terminals are in `adapters/system`."""
