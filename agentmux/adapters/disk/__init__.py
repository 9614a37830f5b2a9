"""Files of sessions, written durably and under locks. `adapters/config` reads configurations."""
