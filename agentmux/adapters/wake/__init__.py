"""Wake the orchestrator: named pipe, file changes. `adapters/system` sees ends of processes."""
