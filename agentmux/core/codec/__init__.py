"""Conversion between plain data (JSON, YAML) and frozen classes, with checks; uuids and digests."""
