"""Builds the outside world (`app/world`) from adapters for `cli`, `demo`, `mcp` and `monitor`.

It contains no operation, and prints nothing.
"""
