"""The ``agentmux`` command line: it parses arguments and prints text or JSON."""
