"""Text, screens, control sequences and keys of terminals, pure. Terminals: `adapters/system`."""
