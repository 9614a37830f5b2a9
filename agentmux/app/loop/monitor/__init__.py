"""The monitor and tmux's own lines of a live session, and notices to its user."""
