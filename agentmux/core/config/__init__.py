"""Settings and the user's trust in them, as values. Files are read by `adapters/config`."""
