"""Reading a pseudo-terminal whose programs end."""

from __future__ import annotations

import os


def read_to_end(master: int) -> str:
    """Return all output on a pseudo-terminal, once no program has it open; close ``master``.

    One ``os.read`` may return less than what is there: the kernel keeps the output in pieces.
    """
    said = b""
    try:
        while data := os.read(master, 65536):
            said += data
    except OSError:  # Linux raises EIO when the last program has closed the terminal
        pass
    os.close(master)
    return said.decode()
