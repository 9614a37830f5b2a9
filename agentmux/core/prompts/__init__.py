"""Renders the prompts of agents. The templates are in `agentmux/prompts`."""
