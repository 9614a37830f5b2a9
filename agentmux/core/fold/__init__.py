"""How an event changes state, phase and files. Kinds of events: `journal`. Phases: `pipeline`."""
