"""Moving a session to another machine: what is exported, and its state there. Files: `adapters`."""
