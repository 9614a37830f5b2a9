"""The film of the README: ``agentmux demo`` in a terminal, from its start to the approval."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from docs.picture_file import Frame, film
from docs.picture_stage import Stage, Terminal, wait_until

NAME: Final = "demo.svg"
SIZE: Final = (104, 30)
_TITLE: Final = "agentmux demo"
_WORKS: Final = "esc to interrupt"
_STATUS: Final = re.compile(r'"[^"\n]*" \d\d:\d\d \d\d-\w+-\d\d')
"""What tmux shows of the machine and the day."""
_ROOT: Final = "/home/ada/tmp/agentmux-demo-"


def make_film(stage: Stage, same: Callable[[str], str]) -> str:
    """Play the demo as a person does, and return its film.

    Args:
        stage: The machine on which it is played.
        same: Returns a text of a screen as it would be on any machine, at any time.

    Raises:
        StageError: The demo did not show what is to be seen.
    """
    frames: list[Frame] = []
    command = f"echo '$ agentmux demo'; TMPDIR={stage.root} agentmux demo"
    with stage.terminal(command, cwd=stage.home, size=SIZE) as terminal:
        _hide_root(stage)

        def take(seconds: float, *words: str, still: bool = False) -> None:
            terminal.shows(*words)
            shown = _STATUS.sub(lambda found: " " * len(found[0]), same(terminal.capture()))
            frames.append(Frame(capture=shown, seconds=seconds, still=still))

        _watch(terminal, take)
        _decide(terminal, take)
        terminal.press("q")
        terminal.shows("next, in one of your git repositories")
    return film(frames, _TITLE)


def _watch(terminal: Terminal, take: Callable[..., None]) -> None:
    take(1.5, "$ agentmux start")
    take(1.5, "architect", _WORKS)
    take(1.2, "planner", _WORKS)
    terminal.shows("coder-1", "coder-2")
    wait_until(lambda: terminal.screen().count(_WORKS) == 2, terminal.screen)
    take(2.5, "coder-1", "coder-2")
    take(2.5, "demo: Next, this tmux server is killed")
    take(2.5, "The tmux server was killed", "Next, they are resumed")
    take(4.0, "its conversation comes back", "Enter resume")
    terminal.press("Enter")
    take(2.0, "coder-2", "continued")
    take(1.5, "reviewer_logic", "reviewer_quality", _WORKS)
    take(1.2, "fixing", _WORKS)
    take(2.5, "demo: The feature is yours to decide on")


def _decide(terminal: Terminal, take: Callable[..., None]) -> None:
    take(4.0, "needs you 1", "tests: passed", still=True)
    terminal.press("a")
    take(3.0, "What an approval of", "4 files")
    terminal.press("a")
    terminal.shows("done 1")
    terminal.lacks("yours to decide")
    take(3.0, "done 1")


def _hide_root(stage: Stage) -> None:
    """Have pictures show another folder, of the same length, in place of that of the demo."""
    wait_until(lambda: bool(list(stage.root.glob("agentmux-demo-*"))), lambda: "no demo")
    (root,) = stage.root.glob("agentmux-demo-*")
    stage.told[str(root)] = _ROOT.ljust(len(str(root)), "0")
