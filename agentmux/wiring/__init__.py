"""Builds the world that the operations work in, for every face. No operation, no output."""
