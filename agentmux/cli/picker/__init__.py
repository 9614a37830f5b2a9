"""A full-screen list in which a person picks a session. Keys: `core/terminal/keys/picker`."""
