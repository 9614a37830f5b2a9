"""Reads and edits the configuration: layers, agents, prompts. Its values are `core/config`."""
