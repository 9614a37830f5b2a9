"""Check a signal and append it to the journal. `submit` must start fast, so import little here."""
