"""Words and commands in sentences for people."""
