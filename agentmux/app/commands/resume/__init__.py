"""Resume a session, rewind it to a checkpoint, or restart one of its seats."""
