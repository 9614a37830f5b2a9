"""What `agentmux demo` plays and proves. Its agent is `demo_agent`, a program of its own."""
