"""Parse YAML strictly: artifacts, and files checked by a schema. The schemas are in `config`."""
