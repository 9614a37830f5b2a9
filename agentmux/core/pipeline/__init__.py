"""The phases: their order, artifacts, checks, seats. What happens on entering one is in `fold`."""
