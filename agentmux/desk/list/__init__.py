"""The desk's list of sessions."""
