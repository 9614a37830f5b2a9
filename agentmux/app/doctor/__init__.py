"""What `agentmux doctor` finds: opinions on facts that adapters collect; it changes nothing."""
