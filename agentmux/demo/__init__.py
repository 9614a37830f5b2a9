"""``agentmux demo``: runs a feature and checks it. Its agent is `demo_agent`, another program."""
