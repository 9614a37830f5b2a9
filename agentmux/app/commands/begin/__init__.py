"""Begins a session: what it is about, and where it works."""
