"""What commands show of sessions, as data; reads only. The faces (cli, demo, mcp, monitor) draw it.

`wait` is here because it only reads, too: it reads a session again until it has reached a phase.
"""
