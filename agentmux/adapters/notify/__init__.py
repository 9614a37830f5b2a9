"""Notifications: the helper process that sends them, and what starts it."""
