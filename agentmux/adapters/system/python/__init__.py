"""The installed package AgentMux and the Python that runs it."""
