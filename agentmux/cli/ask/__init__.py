"""What a person is asked, and whether one is there. Picking a session is `picker`."""
