"""Run the offline agent with ``python -m agentmux.demo_agent``."""

from agentmux.demo_agent.main import main

if __name__ == "__main__":
    raise SystemExit(main())
