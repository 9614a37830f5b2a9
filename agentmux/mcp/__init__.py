"""The MCP server whose tools give AgentMux's signals."""
