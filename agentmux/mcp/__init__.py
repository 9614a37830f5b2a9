"""The MCP server whose tools an agent calls to send its signals to AgentMux."""
