"""Keys, screens and text width, without a terminal. Terminals are in `adapters` and faces."""
