"""Parse YAML strictly: artifacts, and files with a schema. The schemas are in `adapters/config`."""
