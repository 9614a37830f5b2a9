"""Questions to a person, and whether a person is there. Picking a session is in `picker`."""
