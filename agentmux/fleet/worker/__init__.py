"""The worker of a host: it drives sessions, and says that it is there."""
