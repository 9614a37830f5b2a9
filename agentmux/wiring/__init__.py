"""Builds the adapters that operations need, for the CLI, the monitor, the desk and the web.

It contains no operations, and prints nothing.
"""
