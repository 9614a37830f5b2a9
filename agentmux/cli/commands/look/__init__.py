"""Commands that only show sessions, and attach to them."""
