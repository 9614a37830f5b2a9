"""The monitor: the pane in which the orchestrator shows its work and takes the user's keys."""
