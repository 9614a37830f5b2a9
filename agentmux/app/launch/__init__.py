"""Prepare one launch: choose the agent, and make its prompt, command line and resume record.

`core/decisions` decides when a seat is launched.
"""
