"""Find sessions, also moved, lost and other projects' ones, and tell whether they are live."""
