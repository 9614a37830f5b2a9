"""Moves a session to another machine or clone."""
