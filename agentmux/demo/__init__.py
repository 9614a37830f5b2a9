"""``agentmux demo``: runs a feature with scripted agents and checks the result.

The agents' program is in the package `demo_agent`.
"""
