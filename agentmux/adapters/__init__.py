"""One outside thing each: tmux, processes, files, git. They implement ``agentmux.ports``."""
