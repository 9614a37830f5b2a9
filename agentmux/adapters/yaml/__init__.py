"""Parses YAML strictly, with or without a schema. The schemas are in `adapters/config`."""
