"""All calls of tmux. The program in an agent's pane, and typing text into panes, are in `pane`."""
