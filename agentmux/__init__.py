"""AgentMux: run a feature through a pipeline of coding agents in tmux, and resume it.

The faces are the packages through which a person or a program uses AgentMux: `cli`, `demo`, `mcp`
and `monitor`. They draw and parse; what they show and do is in `app`.
"""
