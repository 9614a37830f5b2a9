"""The configuration, and what of it its user trusts, as values. Reading it is `adapters/config`."""
