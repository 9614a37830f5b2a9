"""Processes, clock, ids, mounts, terminals. Named pipes and file events are in `adapters/wake`."""
