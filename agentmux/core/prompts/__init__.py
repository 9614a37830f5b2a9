"""What agents are told, as text. The templates lie in `agentmux/prompts`."""
