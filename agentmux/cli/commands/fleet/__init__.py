"""The commands of the fleet; they import the package `agentmux.fleet` only when they run."""
