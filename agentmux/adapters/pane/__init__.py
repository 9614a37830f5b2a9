"""What runs in an agent's pane, and typing into it. Making and closing panes is `tmux`."""
