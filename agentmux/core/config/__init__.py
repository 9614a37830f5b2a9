"""The configuration, and the user's trust in it, as values. Reading them is `adapters/config`."""
