"""The operations behind the commands: each takes the world and returns its result as data."""
