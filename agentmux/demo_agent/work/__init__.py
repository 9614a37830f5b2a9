"""What the offline agent does for a prompt."""
