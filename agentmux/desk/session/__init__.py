"""What the desk shows of one session."""
