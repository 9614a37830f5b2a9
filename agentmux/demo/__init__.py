"""``agentmux demo``: runs a feature with the offline agent in every seat, and checks the result.

The program of the offline agent is in the package `demo_agent`.
"""
