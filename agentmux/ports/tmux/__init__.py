"""Panes and the monitor."""
