"""Reads configuration, prompt and pipeline files; probes agents. Settings: `core/config`."""
