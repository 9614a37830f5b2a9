"""Commands that name no session, where none is left to go on with."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.decisions.session_trace import SessionTrace
from agentmux.core.journal.state import Moved
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk

NAME = "20260101-101500-add-auth"
WITHOUT_A_NAME = [
    ("approve",),
    ("request-changes", "more"),
    ("resume",),
    ("resume", "--all"),
    ("resume", "--dry-run"),
    ("restart", "--role", "coder"),
    ("stop",),
    ("tell", "go on"),
    ("answer", "y", "--screen", "x"),
    ("unpark",),
]
Fails = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = make_project(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def fails(project: Path, capsys: pytest.CaptureFixture[str]) -> Fails:
    def run(*words: str) -> str:
        assert main(words, os.environ) == ExitCode.NOT_FOUND
        return capsys.readouterr().err

    return run


def left(project: Path, phase: str, **values: Any) -> OnDisk:
    return OnDisk(sessions_dir(project) / NAME, phase, **values)


@pytest.mark.parametrize("words", WITHOUT_A_NAME, ids=" ".join)
def test_of_the_only_session_it_is_said_that_it_is_done(
    project: Path, fails: Fails, words: tuple[str, ...]
) -> None:
    left(project, Phase.DONE)
    error, see, start = fails(*words).splitlines()
    assert error.endswith(": session add-auth is done")
    assert (see, start) == (
        "hint: see it: agentmux status add-auth",
        'hint: agentmux start "FEATURE"',
    )


@pytest.mark.parametrize("words", WITHOUT_A_NAME, ids=" ".join)
def test_of_the_only_session_it_is_said_where_it_went(
    project: Path, fails: Fails, words: tuple[str, ...]
) -> None:
    moved = Moved(to="/a b/s.agentmux", digest="d", at="2026-01-02T11:00:00.000Z")
    left(project, Phase.IMPLEMENTING, moved=moved)
    error, back, remove, _ = fails(*words).splitlines()
    assert ": session add-auth was moved to /a b/s.agentmux on 2026-01-02, and goes on" in error
    assert back.endswith("bring it back: agentmux import '/a b/s.agentmux'")
    assert remove.endswith(f"remove what is left here: agentmux remove {NAME}")


@pytest.mark.parametrize("words", [*WITHOUT_A_NAME, ("status",)], ids=" ".join)
def test_of_the_only_session_it_is_said_that_it_was_deleted(
    project: Path, fails: Fails, words: tuple[str, ...]
) -> None:
    path = deleted(project)
    assert f"session {NAME} ended, because its directory {path} was deleted" in fails(*words)


def test_what_is_left_of_the_only_session_is_said_before_it_is_forgotten(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deleted(project)
    assert main(("remove",), os.environ) == ExitCode.USAGE  # nobody can be asked
    assert f"session {NAME} ended" in capsys.readouterr().err
    assert main(("remove", "--yes"), os.environ) == ExitCode.OK
    capsys.readouterr()
    assert main(("remove", "--yes"), os.environ) == ExitCode.NOT_FOUND
    assert "there is no session" in capsys.readouterr().err


def deleted(project: Path) -> Path:
    """Leave the trace of a session without a directory; return the path of that directory."""
    path = sessions_dir(project) / NAME
    site = build.site(project, config=None, environ=dict(os.environ))
    site.traces.keep(SessionTrace(session="one", path=str(path)))
    return path


def test_where_there_was_no_session_nothing_else_is_said(fails: Fails) -> None:
    assert fails("approve").startswith("error: there is no session\n")
    assert fails("resume").startswith("error: nothing to resume\n")
