"""Where a session works (its checkout or worktree), and what has changed there."""
