"""Asks the person who runs a command, and checks that this is a person and not an agent.

The list in which a person picks a session is in `cli/picker`.
"""
