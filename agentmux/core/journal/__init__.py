"""What a journal line says, and the state of a session. How one changes the other is `fold`."""
