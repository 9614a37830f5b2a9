"""What the operations in ``app`` need of the outside world.

Adapters implement these protocols and do not know each other; operations take them as arguments.
"""
