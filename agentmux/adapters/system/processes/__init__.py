"""Starts, finds and ends processes: our own commands, agents, and programs left running."""
