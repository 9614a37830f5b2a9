"""Builds the outside world (`app/world`) from adapters, for every face.

It contains no operation, and prints nothing.
"""
