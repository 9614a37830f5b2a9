"""AgentMux: run a feature through a pipeline of coding agents in tmux, and resume it."""

__version__ = "0.1.0"
