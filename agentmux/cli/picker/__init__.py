"""A full-screen list in which a person picks a session; its keys are in `core.terminal.picker`."""
