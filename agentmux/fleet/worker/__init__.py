"""The worker of a host: it takes features, runs their sessions, and reports that it is alive."""
