"""The agent's pane: the wrapper program in it, claims, typing. `adapters/tmux` opens the panes.

A claim is a lock on an agent's conversation: only one launch at a time can use it.
"""
