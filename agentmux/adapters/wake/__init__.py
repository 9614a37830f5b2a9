"""Wake the orchestrator: named pipe, file changes. Noticing that a process ended is in `system`."""
