"""Picks one session on the whole terminal. What its keys mean is `core/terminal/picker`."""
