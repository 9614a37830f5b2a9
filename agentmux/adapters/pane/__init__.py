"""The program in an agent's pane, typing text into panes, claims. Opening panes is in `tmux`."""
