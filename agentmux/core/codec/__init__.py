"""Conversion between plain data and values: frozen classes, records in JSON, checked input."""
