"""Waiting for a phase: immediate, after a change, timed out, or impossible."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk import files
from agentmux.app.session.search.lookup import SessionEntry, entry_at, sessions_dir
from agentmux.app.views.wait import Goal, wait_for
from agentmux.app.world import Site
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import (
    AgentmuxError,
    DataError,
    ExitCode,
    NotFoundError,
    TimedOutError,
    UsageError,
)
from agentmux.wiring import build
from tests.app.on_disk import OnDisk

NAME = "20260101-101500-add-auth"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return build.site(tmp_path, config=None, environ=dict(os.environ))


@pytest.fixture
def entry(site: Site) -> SessionEntry:
    return entry_at(site, OnDisk(sessions_dir(site.project) / NAME).path)


def commit(entry: SessionEntry, **values: Any) -> None:
    fields = {**json.loads((entry.path / layout.STATE).read_text()), **values}
    files.replace(entry.path / layout.STATE, json.dumps(fields).encode())


def wait(site: Site, entry: SessionEntry, goal: str, timeout_s: float | None = 10) -> str | None:
    return wait_for(
        site, entry, Goal(goal, entry.fields), timeout_s=timeout_s, monotonic=time.monotonic
    ).phase


@pytest.mark.parametrize(
    ("goal", "phase", "met"),
    [
        ("architecting", "architecting", True),
        ("architecting", "planning", True),
        ("planning", "architecting", False),
        ("reviewing", "fixing", True),
        ("fixing", "reviewing", False),
        ("fixing", "completing", False),
        ("fixing", "fixing", True),
        ("done", "completing", False),
        ("done", "done", True),
        ("completing", "done", True),
        ("failed", "failed", True),
        ("failed", "implementing", False),
        ("implementing", "failed", False),
    ],
)
def test_what_meets_a_goal(entry: SessionEntry, goal: str, phase: str, met: bool) -> None:
    commit(entry, phase=phase)
    now = entry_at(build.site(Path("/"), config=None, environ={}), entry.path)
    assert Goal(goal, entry.fields).is_met(now) is met


def test_a_decision_is_wanted_only_with_the_summary(site: Site, entry: SessionEntry) -> None:
    commit(entry, phase="completing")
    assert not Goal("decision", {}).is_met(entry_at(site, entry.path))
    commit(entry, phase="completing", summary_submitted=True)
    assert Goal("decision", {}).is_met(entry_at(site, entry.path))


def test_no_such_goal() -> None:
    with pytest.raises(UsageError) as raised:
        Goal("reveiwing", {})
    assert "reviewing" in raised.value.hints[0]


def test_the_phases_are_those_of_the_session(entry: SessionEntry) -> None:
    phases = [
        {"phase": "mending", "kind": "fix"},
        {"phase": "writing", "kind": "work"},
        {"phase": "agreeing", "kind": "complete"},
    ]
    commit(entry, phase="agreeing", pipeline={"phases": phases}, summary_submitted=True)
    now = entry_at(build.site(Path("/"), config=None, environ={}), entry.path)
    assert Goal("writing", now.fields).is_met(now)
    assert Goal("decision", now.fields).is_met(now)
    assert not Goal("mending", now.fields).is_met(now)
    with pytest.raises(UsageError, match="architecting"):
        Goal("architecting", now.fields)


def test_what_is_there_needs_no_time(site: Site, entry: SessionEntry) -> None:
    assert wait(site, entry, "architecting", 0) == Phase.ARCHITECTING


def later(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Timer(0.3, action)
    thread.start()
    return thread


def test_a_change_wakes(site: Site, entry: SessionEntry) -> None:
    thread = later(lambda: commit(entry, phase="planning"))
    began = time.monotonic()
    assert wait(site, entry, "planning") == Phase.PLANNING
    assert time.monotonic() - began < 30
    thread.join()


def test_in_vain(site: Site, entry: SessionEntry) -> None:
    with pytest.raises(TimedOutError):
        wait(site, entry, "planning", 0.2)
    with pytest.raises(TimedOutError):
        wait(site, entry, "planning", 0)


def test_a_failure_ends_the_wait_for_anything_else(site: Site, entry: SessionEntry) -> None:
    failed = {"phase": "failed", "interruption": {"cause": "coder-1 crashed twice"}}
    thread = later(lambda: commit(entry, **failed))
    with pytest.raises(AgentmuxError, match="coder-1 crashed twice") as raised:
        wait(site, entry, "done")
    assert raised.value.exit_code is ExitCode.FAILED
    assert raised.value.hints[0] == f"agentmux status {entry.name}"  # it names the next step
    thread.join()


@pytest.mark.parametrize("goal", ["failed", "fixing", "decision"])
def test_what_is_done_goes_nowhere(site: Site, entry: SessionEntry, goal: str) -> None:
    commit(entry, phase="done")
    with pytest.raises(AgentmuxError, match="is done"):
        wait(site, entry, goal)


def test_removed_or_spoilt_while_waiting(site: Site, entry: SessionEntry) -> None:
    thread = later(lambda: commit(entry, schema_version=99))
    with pytest.raises(DataError):
        wait(site, entry, "done")
    thread.join()
    thread = later(lambda: site.folders.hide_for_removal(entry.path))
    commit(entry, schema_version=1)
    with pytest.raises(NotFoundError):
        wait(site, entry, "done")
    thread.join()
