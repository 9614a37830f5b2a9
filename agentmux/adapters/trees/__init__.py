"""Whole work trees: worktrees of sessions, checkpoints, trials, merges. Commits: `adapters/git`."""
