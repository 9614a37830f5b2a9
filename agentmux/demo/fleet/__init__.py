"""``agentmux demo --fleet``: a backlog on two workers, one of which is killed.

It runs the commands of the fleet as processes, and imports nothing of the fleet.
"""
