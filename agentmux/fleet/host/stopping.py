"""How the threads of a worker learn that it ends."""


class StoppingError(Exception):
    """The worker ends: what it does now is left as it is, and its next start does it again."""
