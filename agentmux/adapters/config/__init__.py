"""Read and edit the configuration: its files, agents and prompts; its values: `core/config`."""
