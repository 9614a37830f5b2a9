"""Access to files, git, tmux, the system; the classes implement protocols of `agentmux.ports`."""
