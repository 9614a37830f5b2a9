"""Taking a signal: its check, and its line in the journal. On the fast path: import little."""
