"""Read and edit configuration files, agents, prompt files. Their values are in `core/config`."""
