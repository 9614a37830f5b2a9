"""What a session keeps of the configuration under which it began."""
