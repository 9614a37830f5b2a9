"""One session: found, written, its screens kept. What is done with it: `commands` and `loop`."""
