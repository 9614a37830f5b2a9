"""Wakes the orchestrator: named pipe, file changes. Ends of processes: `adapters/system`."""
