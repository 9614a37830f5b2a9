"""Every command in our messages gets its project where it is shown elsewhere."""

from pathlib import Path

import pytest

from agentmux.cli.command_table import GROUPS
from agentmux.core.names.words.located_commands import (
    ANYWHERE,
    at_project,
    call_sessions,
    names_session,
)
from tests.house.messages import HOLE, commands_of, messages

P = Path("/a b/p")
KNOWN = ("approve", "help", "list", "remove", "resume", "stop")


@pytest.mark.parametrize(
    ("text", "located"),
    [
        ("to resume it: agentmux resume x", "to resume it: agentmux --project '/a b/p' resume x"),
        ("agentmux list", "agentmux --project '/a b/p' list"),
        (
            "agentmux stop x && agentmux resume x",
            "agentmux --project '/a b/p' stop x && agentmux --project '/a b/p' resume x",
        ),
        ("agentmux --project /q list", "agentmux --project /q list"),
        ("agentmux help", "agentmux help"),
        (
            "PATH='/a b:/c' agentmux resume x",
            "PATH='/a b:/c' agentmux --project '/a b/p' resume x",
        ),
        ("git merge x && git -C /q status", "git -C '/a b/p' merge x && git -C /q status"),
        ("the session agentmux-resume of agentmux resume", None),
        ("this is a bug in agentmux: git could not merge", None),
        ("add agentmux approve", None),
    ],
)
def test_a_command_gets_its_project(text: str, located: str | None) -> None:
    assert at_project(text, P, KNOWN) == (text if located is None else located)


def test_each_command_of_each_message_gets_its_project() -> None:
    """None stands where it would not be found; those of a pane, or of no project, are left out."""
    known = {name for group in GROUPS.values() for name in group} - ANYWHERE
    missed = []
    for message in messages():
        located = at_project(message.text, P, known)
        for each in commands_of(located):
            words = each.text.split()
            if words[:1] == ["agentmux"] and len(words) > 1 and words[1] in known:
                missed.append(f"{message.place}: {each.text}")
            if words[:1] == ["git"] and words[1:2] not in (["-C"], [HOLE]):
                missed.append(f"{message.place}: {each.text}")
    assert missed == []


SHORT = {"20260101-101500-add-auth": "add-auth", "20260101-101501-add": "20260101-101501-add"}
WHOLE = "20260101-101500-add-auth"


@pytest.mark.parametrize(
    ("text", "called"),
    [
        (f"session {WHOLE} is done", "session add-auth is done"),
        (f"to resume it: agentmux resume {WHOLE}", "to resume it: agentmux resume add-auth"),
        (f"`coder` of session {WHOLE}.", "`coder` of session add-auth."),
        (
            f"agentmux stop {WHOLE} && agentmux resume {WHOLE} --repin",
            f"agentmux stop {WHOLE} && agentmux resume add-auth --repin",
        ),
        (
            f"agentmux approve {WHOLE} --merge, or agentmux diff {WHOLE}",
            f"agentmux approve {WHOLE} --merge, or agentmux diff add-auth",
        ),
        (f"lose it: agentmux --project '/a b' remove --force {WHOLE}", None),
        (f"agentmux rewind {WHOLE} --to 3", None),
        (f"/p/.agentmux/.sessions/{WHOLE}/state.json", None),
        (f"tmux session agentmux-{WHOLE} is live", None),
        (f"agentmux import {WHOLE}.agentmux", None),
        ("session 20260101-101501-add is done", None),
        ("session 20260101-101502-of-elsewhere is done", None),
    ],
)
def test_a_session_is_called_by_its_short_name(text: str, called: str | None) -> None:
    assert call_sessions(text, SHORT) == (text if called is None else called)
    assert names_session(text) is ((WHOLE in text and called is not None) or "session 2026" in text)
