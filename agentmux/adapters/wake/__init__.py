"""What wakes the orchestrator: a named pipe and file changes. Ends of processes are `system`."""
