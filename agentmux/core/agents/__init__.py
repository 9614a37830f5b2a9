"""Agent CLIs: registry entries, argv, screens, environment. How agents resume: `conversation`."""
