"""The desk in a pane of a tmux server of its own, for tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project

SLOW = {**QUICK, "roles": {**QUICK["roles"], "coder": {"submit": "no"}}}
"""The coder does not hand in: a session that runs on."""

ASKS = {**QUICK, "roles": {**QUICK["roles"], "architect": {"dialog": "permission"}}}
"""The architect asks its user something."""


class Desk:
    """The desk in a pane of a tmux server of its own."""

    def __init__(self, project: Project, wait_until: WaitUntil) -> None:
        self.project, self._wait_until = project, wait_until

    def tmux(self, *words: str) -> str:
        return self.project.tmux("-L", "outer", *words)

    @property
    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "desk")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "desk", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", "-t", "desk", text)

    @property
    def pid(self) -> int:
        """The process of the desk, below the shell of the pane."""
        shell = self.tmux("display-message", "-p", "-t", "desk", "#{pane_pid}").strip()
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def resize(self, cols: int, rows: int) -> None:
        """Give the pane another height, and wait until the desk is drawn in it, top to bottom.

        What is clicked before that is clicked where the desk was: it learns of its size by a
        signal, which mouse events may overtake.
        """
        self.tmux("resize-window", "-t", "desk", "-x", str(cols), "-y", str(rows))

        def is_drawn() -> bool:
            shown = self.screen.splitlines()
            return len(shown) == rows and "agentmux" in shown[0] and "all keys" in shown[-1]

        self._wait_until(is_drawn, 20, lambda: f"not {cols}x{rows}:\n{self.screen}")

    def turn_wheel(self, col: int, row: int, *, up: bool = False) -> None:
        """Turn the wheel by one step over a cell, counted from 1."""
        self.type(f"\x1b[<{64 if up else 65};{col};{row}M")

    def click(self, col: int, row: int) -> None:
        """Press and release the left button at a cell, counted from 1."""
        for end in "Mm":
            self.type(f"\x1b[<0;{col};{row}{end}")

    def shows(self, *words: str, within_s: float = 20) -> None:
        """Wait until the screen has all of these words."""
        self._wait_until(
            lambda: all(word in self.screen for word in words),
            within_s,
            lambda: f"{words} in:\n{self.screen}",
        )

    def lacks(self, word: str) -> None:
        self._wait_until(lambda: word not in self.screen, 20, lambda: f"{word} in:\n{self.screen}")


@contextmanager
def opened(
    project: Project,
    wait_until: WaitUntil,
    *words: str,
    size: tuple[int, int] = (120, 36),
    env: str = "",
) -> Iterator[Desk]:
    """Open the desk by ``agentmux`` alone, or by a command of these words."""
    desk = Desk(project, wait_until)
    cols, rows = map(str, size)
    program = f"{sys.executable} -m agentmux {' '.join(words)}"
    command = f"env {env} TERM=tmux-256color {program}; echo ended $?; exec cat"
    desk.tmux(
        *("-f", "/dev/null", "new-session", "-d", "-s", "desk", "-x", cols, "-y", rows),
        *("-c", str(project.path), command),
    )
    try:
        desk.shows("agentmux")
        yield desk
    finally:
        desk.tmux("kill-server")
