"""``agentmux demo --fleet``: runs a backlog with two workers, one of which is killed.

It runs the commands of the fleet as processes, and imports nothing of the package `fleet`.
"""
