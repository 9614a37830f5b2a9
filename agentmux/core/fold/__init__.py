"""What an event changes: state, phase, files. Events: `journal`. Order of phases: `pipeline`."""
