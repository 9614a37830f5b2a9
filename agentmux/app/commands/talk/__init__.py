"""Give messages or keys to the agents of a live session, or wake those that wait."""
