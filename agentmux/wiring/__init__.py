"""Builds the world in which operations work, for every face. No operation, no output."""
