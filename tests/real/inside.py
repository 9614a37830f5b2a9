"""Runs in the network namespace: starts loopback, then runs pytest or the recorder."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
from typing import Final

FOLDER: Final = "tests/real"
RECORD: Final = "--record"
"""As the first argument: record the screens that the other arguments name, instead of pytest."""

# linux/sockios.h and linux/if.h
_SIOCGIFFLAGS: Final = 0x8913
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 0x1


def loopback_up() -> None:
    """Bring the interface ``lo`` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(control, _SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def main(words: list[str]) -> None:
    """Replace this process by pytest with the arguments ``words``, or record screens."""
    interfaces = [name for _, name in socket.if_nameindex()]
    if interfaces == ["lo"]:
        loopback_up()
    if words[:1] == [RECORD]:
        if interfaces != ["lo"]:
            sys.exit("error: the screens are recorded without a network, and here is one")
        from tests.real.recorder import main as record

        sys.exit(record(words[1:]))
    own = [] if any(word.startswith(FOLDER) for word in words) else [FOLDER]
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *words, *own])


if __name__ == "__main__":
    main(sys.argv[1:])
