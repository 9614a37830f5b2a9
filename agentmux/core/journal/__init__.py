"""The events of a journal, and the state of a session. How one changes the other is `fold`."""
