"""Convert plain data of JSON or YAML, checked, to values of frozen classes, and values to JSON."""
