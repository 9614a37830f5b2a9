"""Durable files, locks and deletion. What is in one session's folder is in `disk/session`."""
