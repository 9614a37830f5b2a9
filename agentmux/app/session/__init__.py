"""Find a session, write its journal, save its last screens. `commands` and `loop` build on it."""
