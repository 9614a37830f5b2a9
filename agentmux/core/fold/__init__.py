"""How an event changes the state and which files follow from it. Events are in `journal`."""
