"""Reads the fleet's state through ``agentmux fleet … --json``.

Another process imports the database library and waits for the database, so that the caller need
not.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.core.fleet.board import FleetBoard, FleetQuestion, board_of, question_of
from agentmux.core.terminal.text import command_words
from agentmux.core.terminal.text.command_words import Words
from agentmux.core.terminal.text.text_width import clean
from agentmux.errors import AgentmuxError, DataError, ExitCode, NotFoundError

T = TypeVar("T")

_LIMIT_S: Final = 60.0
_KEPT_S: Final = 3.0
"""Seconds for which an answer is reused, so that several browsers cost no more than one."""


class FleetCommand:
    """Reads the state of this host's fleet by running ``agentmux fleet`` in another process.

    A fleet is a set of features that wait in a database until a host runs them. Several threads may
    use this object. Each answer is kept, and returned again, for three seconds. Implements
    `ports.fleet.Fleet`.
    """

    def __init__(self, commands: CommandRuns, url: Path, project: Path | None) -> None:
        """Prepare to read the fleet; this runs nothing.

        Args:
            commands: Runs the commands.
            url: The file with the URL of the fleet's database.
            project: The project in which the commands run; None for none.
        """
        self._commands, self._url, self._project = commands, url, project
        self._lock = threading.Lock()
        self._kept: dict[Words, tuple[float, Any]] = {}

    def is_set_up(self) -> bool:
        return self._url.is_file()

    def board(self) -> FleetBoard:
        """Return the state of the fleet: its features and hosts; wait at most a minute for it.

        The state may be up to three seconds old.

        Raises:
            AgentmuxError: The command failed or took too long; the error has its message.
        """
        return self._answer(command_words.fleet_list(), board_of)

    def question(self, feature: str) -> FleetQuestion:
        """Return the question that the user must answer about a feature; wait at most a minute.

        ``feature`` is the feature's key, or the beginning of its id. The answer may be up to three
        seconds old.

        Raises:
            NotFoundError: No feature matches, or several do.
            AgentmuxError: The command failed for another reason; the error has its message.
        """
        return self._answer(command_words.fleet_show(feature), question_of)

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def _answer(self, words: Words, made: Callable[[Mapping[str, Any]], T]) -> T:
        with self._lock:
            now = time.monotonic()
            kept = {w: held for w, held in self._kept.items() if now - held[0] < _KEPT_S}
            if words not in kept:
                answer = self._read(words, made)
                kept[words] = time.monotonic(), answer
            self._kept = kept
            kept_answer: T = kept[words][1]
            return kept_answer

    def _read(self, words: Words, made: Callable[[Mapping[str, Any]], T]) -> T:
        try:
            done = self._commands.child(self._project, words, limit_s=_LIMIT_S).run()
        except subprocess.TimeoutExpired:
            raise AgentmuxError(
                f"the fleet did not answer within {_LIMIT_S:.0f} s", hints=("agentmux fleet list",)
            ) from None
        try:
            answer = json.loads(done.out)
            if done.status:
                problem = answer["problems"][0]
                hints = tuple(clean(str(each)) for each in problem["hints"])
                is_missing = done.status == ExitCode.NOT_FOUND
                kind = NotFoundError if is_missing else AgentmuxError
                raise kind(clean(str(problem["message"])), hints=hints)
            return made(answer)
        except (LookupError, TypeError, ValueError):
            raise DataError(
                f"`agentmux {' '.join(words)}` gave no answer that can be read",
                hints=("agentmux fleet list",),
            ) from None
