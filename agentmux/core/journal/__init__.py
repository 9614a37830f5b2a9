"""The kinds of events, with the list of signals; a session's state. What events change: `fold`."""
