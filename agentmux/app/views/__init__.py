"""What commands show of sessions, as data; reads only. cli, demo, mcp and monitor display it.

`wait` is here because it only reads, too: it reads a session again until it has reached a phase.
"""
