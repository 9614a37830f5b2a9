"""Commands about a project and this machine: configuration, agents, trust, doctor."""
