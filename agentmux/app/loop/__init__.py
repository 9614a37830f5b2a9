"""The loop of the orchestrator: probe, decide, act, wait. `commands` holds what users run."""
