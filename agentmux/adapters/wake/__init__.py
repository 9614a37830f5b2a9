"""What wakes the orchestrator: a pipe and changes of files. Ends of processes are `system`."""
