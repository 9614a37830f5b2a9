"""Agent CLIs: entries, command lines, screens, environment. Their talks are `conversation`."""
