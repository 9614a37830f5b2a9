"""All calls of tmux; `own_session` makes panes. What runs in one, and typing: `adapters/pane`."""
