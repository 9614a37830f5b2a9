"""Configuration files, prompt files, probes of agents. Types of settings are in `core/config`."""
