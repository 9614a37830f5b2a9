"""What only a work tree has, and git does not show."""
