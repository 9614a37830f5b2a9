"""The program in an agent's pane, claims, typing into panes. `adapters/tmux` opens the panes.

A claim is a lock on an agent's conversation: only one launch at a time can use it.
"""
