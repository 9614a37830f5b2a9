"""Where a session works, and what is changed there."""
