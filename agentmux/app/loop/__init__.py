"""The orchestrator: probe, decide, act, wait. What a person asks for is in `commands`."""
