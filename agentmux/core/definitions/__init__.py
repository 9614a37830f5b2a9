"""Definitions of pipelines as data, their validation and drawing. How they run: `pipeline`."""
