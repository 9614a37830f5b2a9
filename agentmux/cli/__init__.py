"""The command line: the faces that a person or an agent types."""
