"""What the loop does beside the agents: checks, commits, deliveries, checkpoints."""
