"""Reads YAML: documents of agents, texts with a schema. What a key of ours means is `config`."""
