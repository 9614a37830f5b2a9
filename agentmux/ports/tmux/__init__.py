"""Protocols for tmux: its sessions and panes, typing into panes, and the monitor's display."""
