"""When a phase is complete, and the recorded commands of checks, the setup and the base."""
