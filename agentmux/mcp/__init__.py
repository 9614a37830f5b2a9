"""The signals as MCP tools. The same signals as shell commands are in `cli/fast`."""
