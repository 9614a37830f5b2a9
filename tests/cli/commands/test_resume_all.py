"""``resume --all``: each session for itself, so that one that cannot go on stops no other."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentmux.app.commands.resume.orchestrator_start import StartedSession
from agentmux.app.session.search.lookup import SessionEntry
from agentmux.app.world import World
from agentmux.cli.commands.run.resume_all import resume_all
from agentmux.cli.invocation import Invocation
from agentmux.core.conversation.launch_policy import LaunchPolicy
from agentmux.core.names.layout import SESSIONS_DIR
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError, ExitCode, NotFoundError, UsageError
from agentmux.ports.tmux.terminal import Server, Target
from agentmux.wiring import build
from tests.app.on_disk import OnDisk

TARGET = Target(server=Server(socket="/s", pid=1, started=1), session="$0", uuid="u")


def invocation_of(project: Path) -> Invocation:
    world = build.world(project, environ={**os.environ, "HOME": str(project)})
    return cast("Invocation", SimpleNamespace(world=lambda: world, interactive=False))


def nobody(world: World, entries: Sequence[SessionEntry]) -> Mapping[str, LaunchPolicy]:
    """Asks about sessions although nobody is there."""
    pytest.fail(f"asked about {len(entries)} in {world.project}")


def one(entry: SessionEntry, panes: LaunchPolicy | None = None) -> StartedSession:
    if entry.name.endswith("-b"):
        raise BlockedError("the checkout is taken", reason="checkout_taken")
    return StartedSession(
        name=entry.name, path=entry.path, target=TARGET, tmux_name="t", phase="planning",
        warnings=("told", "new"), told=("told",),
    )  # fmt: skip


@pytest.mark.usefixtures("isolated")
def test_one_that_cannot_be_resumed_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for slug, phase in (("a", Phase.PLANNING), ("b", Phase.PLANNING), ("c", Phase.DONE)):
        OnDisk(tmp_path / SESSIONS_DIR / f"20260101-101500-{slug}", phase)
    OnDisk(tmp_path / SESSIONS_DIR / "20260102-101500-d", Phase.PLANNING)
    invocation = invocation_of(tmp_path)
    assert resume_all(invocation, one, nobody, yes=True, json=False) == ExitCode.BLOCKED
    said = capsys.readouterr()
    assert said.out == (
        "session 20260102-101500-d is in phase planning\n"
        "session 20260101-101500-a is in phase planning\n"
    )
    assert "error: 20260101-101500-b: the checkout is taken\n" in said.err
    assert "warning: told" not in said.err
    assert "warning: new\n" in said.err

    assert resume_all(invocation, one, nobody, yes=True, json=True) == ExitCode.BLOCKED
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [each["session"][-1] for each in answer["sessions"]] == ["d", "a"]
    assert answer["sessions"][0]["warnings"] == ["told", "new"]
    assert [each["code"] for each in answer["problems"]] == [3]


@pytest.mark.usefixtures("isolated")
def test_what_runs_is_told_also_after_a_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for slug in "abcd":
        OnDisk(tmp_path / SESSIONS_DIR / f"20260101-101500-{slug}", Phase.PLANNING)
    order: list[str] = []

    def asks(entry: SessionEntry, _: LaunchPolicy | None) -> StartedSession:
        order.append(entry.name[-1])
        if len(order) == 1:
            raise PermissionError(13, "Permission denied", "/a/file")
        if len(order) == 3:
            raise KeyboardInterrupt
        return one(replace(entry, name="20260101-101500-x"))

    with pytest.raises(KeyboardInterrupt):
        resume_all(invocation_of(tmp_path), asks, nobody, yes=True, json=True)
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert len(answer["sessions"]) == 1
    (problem,) = answer["problems"]
    assert problem["message"] == "/a/file: permission denied"
    assert len(order) == 3


def test_where_none_is_left_there_is_nothing_to_resume(tmp_path: Path) -> None:
    OnDisk(tmp_path / SESSIONS_DIR / "20260101-101500-c", Phase.DONE)
    with pytest.raises(NotFoundError, match="nothing to resume"):
        resume_all(invocation_of(tmp_path), one, nobody, yes=True, json=False)


@pytest.mark.usefixtures("isolated")
def test_a_person_is_asked_once_about_all_of_them(tmp_path: Path) -> None:
    for slug in "ab":
        OnDisk(tmp_path / SESSIONS_DIR / f"20260101-101500-{slug}", Phase.PLANNING)
    agreed = LaunchPolicy(shell=("planner",))
    asked, begun = list[list[str]](), dict[str, LaunchPolicy | None]()

    def ask(_: World, entries: Sequence[SessionEntry]) -> Mapping[str, LaunchPolicy]:
        asked.append([each.name[-1] for each in entries])
        return {entries[0].name: agreed}

    def begins(entry: SessionEntry, panes: LaunchPolicy | None) -> StartedSession:
        begun[entry.name[-1]] = panes
        return one(entry)

    invocation = invocation_of(tmp_path)
    with pytest.raises(UsageError, match=r"cannot ask without a terminal: Resume 2 sessions: "):
        resume_all(invocation, begins, ask, yes=False, json=False)
    invocation.interactive = True  # type: ignore[misc]
    resume_all(invocation, begins, ask, yes=False, json=False)
    assert asked == [["b", "a"]]
    assert begun == {"b": agreed, "a": None}
