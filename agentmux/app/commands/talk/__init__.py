"""What a person gives the agents of a live session."""
