"""The outside world, one package for each thing; the classes implement ``agentmux.ports``."""
