"""Builds the outside world (`app/world`) from adapters, for every face. No operation, no output."""
