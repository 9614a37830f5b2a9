"""Files of sessions, written durably and under locks. Configuration files are in `config`."""
