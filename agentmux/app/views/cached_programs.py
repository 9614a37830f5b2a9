"""Programs that are looked up once, for those who examine many sessions together."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.ports.programs import Programs


class CachedPrograms:
    """`Programs` that look each program up only once, however many sessions ask."""

    def __init__(self, programs: Programs) -> None:
        self.path, self.shell = programs.path, programs.shell
        self.probe, self.ask = programs.probe, programs.ask
        self.find = functools.cache(programs.find)
        self.identity = functools.cache(programs.identity)
        self.exists = functools.cache(programs.exists)
