"""Pipelines as data: their phases, the built-in ones, the check. How they run: `pipeline`."""
