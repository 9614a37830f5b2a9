"""Sessions whose directories somebody deleted, alone or with all of their project."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.session.search.lost_sessions import (
    LostSessionError,
    homeless_sessions,
    lost_sessions,
    require_not_lost,
    what_ended,
    what_is_left,
)
from agentmux.app.world import Site
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.session_trace import SessionTrace
from agentmux.wiring import build
from tests.app.driver import git, make_project

NAME = "20260101-101500-add-a-greeting"


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """The main worktree of a repository."""
    return make_project(tmp_path / "main")


@pytest.fixture
def linked(main: Path, tmp_path: Path) -> Path:
    """A linked worktree of the user's."""
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "feat")
    return tmp_path / "linked"


def site(project: Path) -> Site:
    return build.site(project, config=None, environ=dict(os.environ))


def begun(project: Path, name: str = NAME, **more: Any) -> SessionTrace:
    """Leave the trace of a session of the project, and the session's directory."""
    path = project / ".agentmux" / ".sessions" / name
    path.mkdir(parents=True)
    here = site(project)
    shared = str(here.repositories.around(project) or "")
    trace = SessionTrace(session="one", path=str(path), phase="planning", repository=shared)
    trace = replace(trace, **more)
    here.traces.keep(trace)
    return trace


def test_what_was_in_a_worktree_that_somebody_removed_is_told_in_the_others(
    main: Path, linked: Path, tmp_path: Path
) -> None:
    trace = begun(linked)
    assert lost_sessions(site(main)) == ()
    git(main, "worktree", "remove", str(linked), "--force")
    (main / "below").mkdir()
    git(main, "worktree", "add", "-q", str(tmp_path / "third"), "-b", "third")
    for project in (main, main / "below", tmp_path / "third"):
        assert lost_sessions(site(project)) == (trace,)
    assert lost_sessions(site(make_project(tmp_path / "another"))) == ()
    assert homeless_sessions(site(main)) == ()
    with pytest.raises(LostSessionError, match=f"is gone with {linked}"):
        require_not_lost(site(main), "add-a")


def test_what_moves_with_its_worktree_is_not_lost(main: Path, linked: Path, tmp_path: Path) -> None:
    begun(linked)
    begun(linked / "below", "20260101-101501-other", session="two")
    git(main, "worktree", "move", str(linked), str(tmp_path / "moved"))
    assert lost_sessions(site(main)) == ()
    shutil.rmtree(tmp_path / "moved" / "below")
    assert [each.session for each in lost_sessions(site(main))] == ["two"]


def test_what_was_in_a_folder_of_the_repository_is_told_at_its_top(main: Path) -> None:
    trace = begun(main / "service")
    shutil.rmtree(main / "service")
    assert lost_sessions(site(main)) == (trace,)


def test_what_was_in_a_submodule_is_told_around_it(main: Path, tmp_path: Path) -> None:
    make_project(tmp_path / "part")
    allowed = ("-c", "protocol.file.allow=always")
    git(main, *allowed, "submodule", "--quiet", "add", str(tmp_path / "part"), "part")
    trace = begun(main / "part")
    git(main, "submodule", "--quiet", "deinit", "--force", "part")
    assert lost_sessions(site(main)) == (trace,)


def test_of_a_worktree_that_is_there_the_others_tell_nothing(main: Path, linked: Path) -> None:
    trace = begun(linked)
    shutil.rmtree(linked / ".agentmux")
    assert lost_sessions(site(main)) == ()
    assert lost_sessions(site(linked)) == (trace,)
    assert what_ended(trace).endswith(f"its directory {trace.path} was deleted")


def test_what_is_gone_with_all_of_its_repository_is_found_by_its_path(
    main: Path, tmp_path: Path
) -> None:
    trace = begun(main)
    other = site(make_project(tmp_path / "another"))
    assert homeless_sessions(other) == ()
    main.rename(tmp_path / "away")
    assert (lost_sessions(other), homeless_sessions(other)) == ((), (trace,))
    with pytest.raises(LostSessionError):
        require_not_lost(other, trace.path)


def test_what_is_left_says_nothing_of_what_is_gone(main: Path, linked: Path) -> None:
    conversations = tuple(f"{where.name}\tcd {where} && ai --resume x" for where in (main, linked))
    trace = begun(linked, branch="feat", conversations=conversations)
    git(main, "worktree", "remove", str(linked), "--force")
    assert list(what_is_left(trace)) == [
        "its branch may be left: git log feat --",
        f"the conversation of main is left: cd {main} && ai --resume x",
        f"the conversation of linked is left, though {linked} is gone: ai --resume x",
        f"if {linked} was only moved, go on there: agentmux --project PATH resume {NAME}",
        "begin again: agentmux start '…'",
        f"do not name it any more: agentmux remove {NAME}",
    ]
