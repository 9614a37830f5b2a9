"""Picks one session in a full-screen list. What its keys mean is in `core/terminal/picker`."""
