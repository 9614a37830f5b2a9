"""Asks forges by their own command-line programs. What these are is data: see `config`."""
