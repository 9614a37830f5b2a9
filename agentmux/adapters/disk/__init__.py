"""Files of sessions, written whole and under locks. The configuration's files are `config`."""
