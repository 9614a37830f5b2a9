"""The files of a session, and those of an exported one."""
