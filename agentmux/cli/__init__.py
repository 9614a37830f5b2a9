"""The command line that a person or an agent types: arguments in, text or JSON out."""
