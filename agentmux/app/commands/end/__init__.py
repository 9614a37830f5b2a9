"""Ends a session, tries its state, or removes it."""
