"""Finds work in a work tree that would be lost with it, and that ``git status`` does not show."""
