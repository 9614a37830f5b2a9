"""The desk's screens, questions and widgets."""
