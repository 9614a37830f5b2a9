"""The desk's list of sessions: reads the sessions, keeps them up to date, and lays out the list."""
