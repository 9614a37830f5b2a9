"""What faces show of one session."""
