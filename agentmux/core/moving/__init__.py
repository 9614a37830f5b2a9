"""What a session takes along to another machine, and what it is there. No file, no git: `adapters`."""
