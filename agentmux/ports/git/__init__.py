"""Repositories, worktrees, checkpoints and deliveries."""
