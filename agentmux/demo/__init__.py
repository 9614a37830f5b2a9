"""``agentmux demo``: runs a feature with the offline agent in every seat, and checks the result.

The offline agent's program is in the package `demo_agent`.
"""
