"""One session: find it, write it, keep its screens. What acts on it is in `commands` and `loop`."""
