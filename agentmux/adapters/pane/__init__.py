"""The program in an agent's pane, its claims, typing into panes. Opening panes is in `tmux`."""
