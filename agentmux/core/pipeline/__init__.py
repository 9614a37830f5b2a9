"""The phases of a session: order, artifacts, checks and seats. Entering a phase: `fold`."""
