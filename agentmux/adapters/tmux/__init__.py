"""All calls of tmux. The program in a pane, and typing into panes, are in `adapters/pane`."""
