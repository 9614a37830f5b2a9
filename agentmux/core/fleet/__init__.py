"""The rules of the fleet: what may be submitted, who may act, what a session's state means to it."""
