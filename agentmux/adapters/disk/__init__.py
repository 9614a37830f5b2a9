"""Files of sessions, written durably and under locks. The configuration's files are `config`."""
