"""The orchestrator: probe, decide, act, wait. `commands` has the operations for people."""
