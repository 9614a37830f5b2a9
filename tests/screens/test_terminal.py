"""Commands and the monitor keep to the rules in a real terminal, too."""

from __future__ import annotations

import re
import sys

import pytest

from agentmux.core.names import layout
from tests.cli.picker.picker_lab import make_session
from tests.e2e.conftest import Client, Project
from tests.e2e.conftest import project as project  # noqa: PLC0414 (the fixture, for this folder)
from tests.screens.rules import beyond_first_screen, cut_words, too_wide, wrapped_ids
from tests.screens.sessions import REQUESTS

NAME = f"20260101-101500-{layout.slug(REQUESTS[0])}"


def on_screen(project: Project, *words: str, code: int, cols: int) -> list[str]:
    """Return the lines that a command prints on a terminal of this width."""
    with Client(project, sys.executable, "-m", "agentmux", *words, size=(cols, 24)) as client:
        said = client.ended(code)
    said = re.sub("\x1b\\[[0-9;]*m|\r", "", said)
    return re.sub(r"\d{8}-\d{6}-", NAME[:16], said).split("\n")  # a start is now


@pytest.mark.parametrize(
    ("words", "code", "rows"),
    [
        (("status", NAME), 0, 23),
        (("resume", "--dry-run", NAME), 0, 23),
        (("attach", NAME), 4, 23),
        (("agents",), 0, 46),
        (("start", "--dry-run", "--agent", "demo", REQUESTS[1]), 0, 23),
    ],
    ids=["status", "resume --dry-run", "attach", "agents", "start --dry-run"],
)
def test_what_commands_print_is_folded_between_words(
    project: Project, words: tuple[str, ...], code: int, rows: int
) -> None:
    make_session(project.path, NAME, feature=REQUESTS[0])
    texts = on_screen(project, *words, code=code, cols=1000)
    lines = on_screen(project, *words, code=code, cols=80)
    assert too_wide(lines, 80) == []
    assert wrapped_ids(lines, {NAME}) == []
    assert list(cut_words(lines, texts, 80)) == []
    assert beyond_first_screen(lines, rows, [lines[-2]]) == []


@pytest.mark.long
def test_the_monitor_beside_an_agent_that_asks(project: Project) -> None:
    project.config("snapshots: {interval: 0.2s}\n")
    project.scenario({"roles": {"architect": {"dialog": "permission"}}})
    session = project.start(REQUESTS[0])

    def shown() -> list[str]:
        pane = f"{session.state['session_name']}:.{{top-left}}"
        return project.tmux("capture-pane", "-p", "-t", pane).split("\n")

    project.tmux("resize-window", "-t", session.state["session_name"], "-x", "80", "-y", "24")
    project.until(lambda: "architect asks: " in " ".join(shown()))
    project.until(lambda: max(map(len, shown())) <= 30)
    lines = shown()
    assert wrapped_ids(lines, {session.name}) == []
    assert "architect asks: Do you want to proceed?" in project.ok("status", session.name)
    wanted = ("Raise a DuplicateKeyError", "architect asks: Do you want to", "x goes there")
    assert beyond_first_screen(lines, 23, wanted) == []
