"""The MCP face of the signals; the shell's is ``agentmux submit``."""
