"""``agentmux demo``: shows a person a feature with the offline agent, or plays and proves it.

The program of the offline agent is in the package `demo_agent`.
"""
