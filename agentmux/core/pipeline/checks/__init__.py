"""The checks of a session, and when a phase is complete."""
