"""One description of each signal and user decision: its arguments, rule, files and effect."""
