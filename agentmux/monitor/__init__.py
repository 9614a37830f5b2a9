"""The monitor: the pane in which the orchestrator shows what it does, and hears keys."""
