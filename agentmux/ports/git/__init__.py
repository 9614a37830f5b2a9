"""Protocols for git: repositories, worktrees, work-tree checkpoints, trials, merges and remotes."""
