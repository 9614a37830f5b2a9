"""Questions to a person, and the check that a person, not an agent, runs a command.

The list in which a person picks a session is in `cli/picker`.
"""
