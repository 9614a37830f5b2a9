"""Agent CLIs: registry entries, command lines, screens, environment. Resuming: `conversation`."""
