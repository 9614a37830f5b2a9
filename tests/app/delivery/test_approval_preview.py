"""What is shown before an approval: where the result goes, or why it cannot go there now."""

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from agentmux.adapters.git.work_tree import MARKER
from agentmux.app.delivery.approval.approval_preview import destination
from agentmux.app.delivery.approval.approval_question import approval_question
from agentmux.app.delivery.approval.deliverable import deliverable
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.app.session.workplace.changes import changes_of
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.world import World
from agentmux.core.checks.report import FINDS_TESTS
from agentmux.core.journal.state import Base, Options, SessionState
from agentmux.core.names.phase import Phase
from agentmux.errors import MissingError
from agentmux.ports.git.merging import Merging
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk

NAME = "20260101-101500-x"
DIRTY = ("setup.lock",)


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    return make_project(tmp_path / "project")


@pytest.fixture
def state(project: Path, tmp_path: Path) -> SessionState:
    """A session in a worktree of its own, with one file that is not committed."""
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", str(place), "-b", "agentmux/x")
    (place / "one.txt").write_text("1\n")
    base = git(project, "rev-parse", "HEAD").strip()
    return SessionState(
        phase=Phase.COMPLETING,
        feature="Add it",
        feature_dir=NAME,
        branch="agentmux/x",
        worktree=str(place),
        base=Base(commit=base, branch="main"),
        options=Options(commit=True, base=base),
    )


def world(project: Path, state: SessionState) -> World:
    return with_workplace(build.world(project, environ=dict(os.environ)), state)


def merges_to(project: Path, state: SessionState) -> str:
    """Return where a merge would take the result, as preview and question say it, too."""
    here = world(project, state)
    completion = replace(here.settings.completion, then="merge")
    here = replace(here, settings=replace(here.settings, completion=completion))
    home = sessions_dir(project) / NAME
    home.mkdir(parents=True, exist_ok=True)
    files = here.files(home)
    found = deliverable(here, state)
    where = destination(here, files, state, found, "merge")
    asked = approval_question(here, files, state)
    assert [line for line in where.splitlines() if line not in asked.lines] == []
    gist = "; ".join(where.splitlines())
    assert asked.effect == f"commit 1 file on agentmux/x: one.txt; {gist}"
    assert asked.approval.then == "merge"
    return where


def test_what_a_merge_would_be_refused_for_is_said_before_the_question(
    project: Path, state: SessionState
) -> None:
    assert merges_to(project, state) == "then merged into main"
    (project / "one.txt").write_text("mine\n")
    said = merges_to(project, state)
    assert said.startswith("it cannot be merged now: branch `main` is checked out in")
    assert said.endswith(
        f"changes in one.txt\nput them aside: git -C {project} stash push --all --message"
        " 'put aside for a merge' -- one.txt\nthen:"
        f" agentmux approve {NAME} --merge"
    )
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Mine")
    assert merges_to(project, state) == (
        "it cannot be merged now: conflicts with branch `main` in one.txt\nhave a coder resolve it:"
        f" agentmux request-changes --from fixing --session {NAME}"
        " 'Merge main into this branch, and resolve the conflicts.'"
    )


def test_a_session_that_needs_the_checkout_is_named_before_the_question(
    project: Path, state: SessionState
) -> None:
    other = sessions_dir(project) / "20260101-101501-other"
    OnDisk(other, Phase.PLANNING, options=Options(commit=True, base=state.options.base))
    said = merges_to(project, state)
    assert f"cannot be merged now: session {other.name} began in {project}" in said
    assert f"agentmux approve {NAME} --keep" in said
    git(project, "checkout", "-q", "-b", "mine")
    assert merges_to(project, state) == "then merged into main"


def test_what_the_setup_changed_is_in_the_way_of_no_merge(
    project: Path, state: SessionState
) -> None:
    for place, said in ((Path(str(state.worktree)), "here\n"), (project, "in the checkout\n")):
        (place / "setup.lock").write_text(said)
    assert merges_to(project, replace(state, options=replace(state.options, dirty=DIRTY))) == (
        "then merged into main"
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MissingError("git status did not answer within 30 s"), "git status did not answer"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left on device"),
    ],
)
def test_a_look_that_fails_keeps_nobody_from_deciding(
    project: Path, state: SessionState, tmp_path: Path, error: Exception, said: str
) -> None:
    class Mute:
        def checkout_of(self, _: str) -> None:
            """Return that the branch is checked out nowhere."""

        def check_mergeable(self, *_: object, **__: object) -> None:
            raise error

    here = world(project, state)
    here = replace(here, git=replace(here.git, merging=lambda _: cast("Merging", Mute())))
    found = deliverable(here, state)
    where = destination(here, here.files(tmp_path), state, found, "merge")
    assert where.startswith("then merged into main; whether that can be done now is not known: ")
    assert said in where


def test_what_is_counted_is_what_would_be_committed(project: Path, state: SessionState) -> None:
    place = Path(str(state.worktree))
    (place / "setup.lock").write_text("made by git.setup\n")
    state = replace(state, options=replace(state.options, dirty=DIRTY))
    home = sessions_dir(project) / NAME
    home.mkdir(parents=True)

    def said() -> tuple[str, str]:
        here = world(project, state)
        files = here.files(home)
        asked = approval_question(here, files, state, "")
        (counted,) = (each for each in asked.lines if "to be" in each or "the result is" in each)
        return counted, asked.effect

    assert said() == (
        "to be committed: 1 file, with the message “Add it”",
        "commit 1 file on agentmux/x: one.txt",
    )
    git(place, "add", "one.txt")
    git(place, "commit", "-qm", "By an agent")
    (place / "two.txt").write_text("2\n")
    assert said() == (
        "to be committed: 1 file of the 2 files of the result, with the message “Add it”",
        "commit 1 file on agentmux/x: two.txt",
    )
    git(place, "add", "two.txt")
    git(place, "commit", "-qm", "By an agent")
    assert said() == (
        "the result is committed already: 2 files",
        "approve 2 files, committed already",
    )


def test_a_result_that_the_base_has_already_is_not_called_nothing(
    project: Path, state: SessionState
) -> None:
    place, home = Path(str(state.worktree)), sessions_dir(project) / NAME
    home.mkdir(parents=True)
    state = replace(state, session_id="0f6ea3dc")
    marker = Path(git(place, "rev-parse", "--absolute-git-dir").strip(), MARKER)
    marker.write_text(f"{home}\n{state.session_id}\n")

    def said(way: str) -> tuple[list[str], str, str]:
        here = world(project, state)
        files = here.files(home)
        changes = changes_of(here, state, home)
        assert changes is not None
        asked = approval_question(here, files, state, way)
        nothing, *lines = asked.lines
        assert nothing == FINDS_TESTS
        return lines, asked.effect, changes.note

    asks = "approve; "
    (place / "one.txt").unlink()
    nothing = "there is nothing to commit"
    assert said("merge") == ([f"nothing was changed: {nothing}"], f"{asks}{nothing}", "")
    (place / "one.txt").write_text("1\n")
    git(place, "add", "one.txt")
    git(place, "commit", "-qm", "By an agent")
    git(project, "merge", "-q", "agentmux/x")
    git(project, "remote", "add", "origin", str(project))
    held = "main has all commits of agentmux/x already"
    left = f"nothing is left to commit: {held}"
    assert said("merge") == ([left], f"{asks}{left}", held)
    pushed = "then pushed to origin, branch agentmux/x"
    assert said("push") == ([left, pushed], f"{asks}{left}; {pushed}", held)
    (place / "two.txt").write_text("2\n")
    lines, text, note = said("merge")
    assert "to be committed: 1 file, with the message “Add it”" in lines
    assert "then merged into main" in lines
    assert (text, note) == ("commit 1 file on agentmux/x: two.txt; then merged into main", held)
