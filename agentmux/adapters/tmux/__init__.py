"""Every call of tmux: servers, sessions, panes. Typing into panes is in `adapters/pane`."""
