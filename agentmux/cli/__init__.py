"""The ``agentmux`` command line: parses arguments, calls operations, and prints text or JSON."""
