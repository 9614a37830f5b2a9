"""Agent CLIs: entries, command lines, screens, environment. Resuming them is `conversation`."""
