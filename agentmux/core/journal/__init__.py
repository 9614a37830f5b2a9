"""The events of a journal, and the state of a session. How events change the state is in `fold`."""
