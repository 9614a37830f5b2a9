"""What agents are told, as text. The templates are in `agentmux/prompts`."""
