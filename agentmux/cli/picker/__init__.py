"""A full-screen list in which a person picks a session. Its keys are in `core/terminal/picker`."""
