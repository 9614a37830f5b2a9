"""What a session takes to another machine, and what it is there. Files and git: `adapters`."""
