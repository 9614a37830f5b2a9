"""Kills an orchestrator on request; every Python with this folder on its path loads this module.

``AGENTMUX_TEST_FAULTS`` names a folder of JSON files; an orchestrator uses the first one. ``name``
and ``place`` (a pattern) select the operations, ``count`` the one of them before which it is
killed, and ``server`` says whether the tmux server is killed, too. ``name`` is a function of `os`,
or ``run``: then ``place`` is searched in the command line of a program that it starts. Before the
kill, the file is renamed to ``….fired``.
"""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

from operations import Operation, Operations  # type: ignore[import-not-found]  # beside this file


class Fault:
    """One kill that has not happened yet."""

    def __init__(self, path: Path, session: Path) -> None:
        self._path = path
        self._session = session
        told: dict[str, Any] = json.loads(path.read_text())
        self._name: str = told["name"]
        self._place = re.compile(told["place"])
        self._left: int = told.get("count", 1)
        self._server: bool = told["server"]

    def install(self) -> None:
        if self._name == "run":
            sys.addaudithook(self._audited)
        else:
            Operations(self._session, self._before).install(setattr)

    def _before(self, operation: Operation) -> None:
        place = os.path.relpath(operation.place, self._session)
        if operation.name == self._name and self._place.fullmatch(place):
            self._met()

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            words = " ".join(os.fsdecode(word) for word in arguments[1])
            if self._place.search(words):
                self._met()

    def _met(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._path.rename(f"{self._path}.fired")
            if self._server:
                os.kill(int(os.environ["TMUX"].split(",")[1]), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)


_faults = sorted(Path(os.environ.get("AGENTMUX_TEST_FAULTS", "/nowhere")).glob("*.json"))
if "_orchestrate" in sys.orig_argv and _faults:
    _at = sys.orig_argv.index("_orchestrate")
    Fault(_faults[0], Path(sys.orig_argv[_at + 2])).install()
