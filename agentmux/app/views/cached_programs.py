"""Caches the search for programs, for commands that examine many sessions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.ports.programs import Programs


class CachedPrograms:
    """Programs of this machine (`Programs`); each is searched for only once, then remembered.

    Running a program, with ``probe`` or ``ask``, is not cached here.
    """

    def __init__(self, programs: Programs) -> None:
        self.path, self.shell = programs.path, programs.shell
        self.probe, self.ask = programs.probe, programs.ask
        self.find = functools.cache(programs.find)
        self.identity = functools.cache(programs.identity)
        self.exists = functools.cache(programs.exists)
