"""Accept a signal: check it, and append it to the journal. On the fast path: import little."""
