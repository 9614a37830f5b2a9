"""The operations: each takes the outside world as arguments and returns its result as data."""
