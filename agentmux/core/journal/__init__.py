"""The kinds of events, and the state of a session. How events change the state: `fold`."""
