"""Places in a network of their own, whose packets can be dropped without a word.

Each place is a network namespace of Linux. A router between them forwards packets, or drops all
that come from a place and go to it: nobody is told, as if a cable was cut behind a switch.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

_CLONE_NEWNET: Final = 0x40000000
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_NAMES: Final = Path("/run/netns")


def is_possible() -> bool:
    """Return whether this user can make network namespaces here."""
    if os.geteuid() or not shutil.which("ip"):
        return False
    try:
        Network().close()
    except subprocess.CalledProcessError:
        return False
    return True


class Network:
    """A router, and the places around it. It has no way to any other network."""

    def __init__(self) -> None:
        self._id = f"amx-{uuid.uuid4().hex[:8]}"
        self._places: dict[str, int] = {}
        self._cut: set[str] = set()
        self._router = self._made("router")
        with self.at("router"):
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, place: str) -> str:
        """Make a place; return its address."""
        number = self._places[place] = len(self._places) + 1
        made, address = self._made(place), self.address(place)
        router, link = f"10.213.{number}.1", f"to{number}"
        _ip("-n", made, "link", "add", "net", "type", "veth", "peer", link, "netns", self._router)
        _ip("-n", self._router, "address", "add", f"{router}/30", "dev", link)
        _ip("-n", self._router, "link", "set", link, "up")
        _ip("-n", made, "address", "add", f"{address}/30", "dev", "net")
        _ip("-n", made, "link", "set", "net", "up")
        _ip("-n", made, "route", "add", "default", "via", router)
        return address

    def address(self, place: str) -> str:
        """Return the address of a place."""
        return f"10.213.{self._places[place]}.2"

    def cut(self, place: str) -> None:
        """Drop all packets from and to a place from now on."""
        self._cut.add(place)
        self._rules("add", place)

    def mend(self, place: str) -> None:
        """Forward them again."""
        self._cut.discard(place)
        self._rules("del", place)

    def mend_all(self) -> None:
        """Forward all packets again."""
        for place in [*self._cut]:
            self.mend(place)

    def _rules(self, verb: str, place: str) -> None:
        for way in ("from", "to"):
            _ip("-n", self._router, "rule", verb, way, self.address(place), "blackhole")

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Have this thread, and the processes that it starts in the block, be at a place."""
        own = Path("/proc/thread-self/ns/net")
        with own.open() as here, (_NAMES / self._name(place)).open() as there:
            _be_in(there.fileno())
            try:
                yield
            finally:
                _be_in(here.fileno())

    def close(self) -> None:
        """Remove all of it. A process that still runs at a place keeps its own end."""
        for place in (*self._places, "router"):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", self._name(place))

    def _name(self, place: str) -> str:
        return f"{self._id}-{place}"

    def _made(self, place: str) -> str:
        name = self._name(place)
        _ip("netns", "add", name)
        _ip("-n", name, "link", "set", "lo", "up")
        return name


def _be_in(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True, stdin=subprocess.DEVNULL)
