"""The machine: processes, clock, ids, mounts, terminals. What wakes the orchestrator is `wake`."""
