"""Finds sessions, also those that were moved, lost or are of another project."""
