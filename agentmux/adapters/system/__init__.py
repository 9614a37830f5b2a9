"""The machine: processes, clock, ids, mounts. What wakes the orchestrator is `wake`."""
