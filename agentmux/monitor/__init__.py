"""The monitor: the pane in which the orchestrator shows its work and reads the user's keys."""
