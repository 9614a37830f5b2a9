"""All that is said to tmux. What runs in a pane, and typing into it, is `pane`."""
