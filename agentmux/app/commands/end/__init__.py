"""Approve a session's result, stop the session, try its files out, or remove it."""
