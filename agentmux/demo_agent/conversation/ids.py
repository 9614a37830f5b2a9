"""Creates the ids of conversations."""

from __future__ import annotations

import os


def new_id() -> str:
    """Return a random UUID (version 4), without importing the module `uuid`, which takes long."""
    data = bytearray(os.urandom(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
