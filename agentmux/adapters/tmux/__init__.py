"""All calls of tmux. What runs in a pane, and typing into it, is `pane`."""
