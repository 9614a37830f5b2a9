"""The kinds of events, and a session's state. What events change, and each signal: `fold`."""
