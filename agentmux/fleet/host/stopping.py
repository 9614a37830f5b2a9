"""The error that ends the threads of a worker when the worker ends."""


class StoppingError(Exception):
    """The worker is about to end. Unfinished workflows run again when a worker starts."""
