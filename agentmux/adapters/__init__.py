"""Access to files, git, tmux and the system, a room each; classes implement `agentmux.ports`."""
