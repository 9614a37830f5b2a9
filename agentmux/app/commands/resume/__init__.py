"""Lets a session go on: as a whole, one seat, or from an earlier state."""
