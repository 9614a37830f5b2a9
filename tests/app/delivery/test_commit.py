"""Committing an approved result with real git, and how that can fail."""

import os
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.git.repository import Git
from agentmux.app.delivery.approval.deliverable import deliverable
from agentmux.app.delivery.steps.commit import commit, describe_failure, find_head_error
from agentmux.app.session.workplace.branch_mismatch import keep_as
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.world import World
from agentmux.core.documents.trailer import TRAILER
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import Base, Options, Reviewed, SessionState
from agentmux.core.names.phase import Phase
from agentmux.errors import AgentmuxError, MissingError
from agentmux.overriding import override
from agentmux.ports.git.repository import (
    GitError,
    HeadMovedError,
    IndexBusyError,
    ResultChangedError,
)
from agentmux.wiring import build
from tests.app.driver import git, make_project

NAME = "20260101-101500-x"
APPROVAL = "6f1c1a52-6a51-5d53-9d31-0a4ff2f8a001"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = make_project(tmp_path / "project")
    (made / "agent.txt").write_text("x\n")
    return made


@pytest.fixture
def world(project: Path) -> World:
    return build.world(project, environ=dict(os.environ))


@pytest.fixture
def state(world: World) -> SessionState:
    head = world.repository.head()
    options = Options(commit=True, base=head.commit)
    return SessionState(
        phase=Phase.COMPLETING,
        feature="Add it",
        feature_dir=NAME,
        branch=head.branch,
        options=options,
    )


@pytest.mark.parametrize("taken", ["", "-2"])
def test_a_branch_that_was_only_looked_at_must_be_as_it_was(
    project: Path, world: World, state: SessionState, taken: str
) -> None:
    seen = Reviewed(name="fix", commit="c" * 40, base="main", since="b" * 40)
    options = replace(state.options, commit=False)
    state = replace(state, reviewed=seen, options=options, worktree=str(project), branch=None)
    error = find_head_error(world, state)
    assert error is not None
    assert "these files were changed: agent.txt" in error.message
    (project / "set_up.txt").write_text("before the session\n")
    state = replace(state, options=replace(options, dirty=("set_up.txt",)))
    follow(world, state)
    assert edits(project) == "?? set_up.txt"
    assert git(project, "stash", "show", "--include-untracked", "--name-only") == "agent.txt\n"
    assert find_head_error(world, state) is None
    git(project, "commit", "-q", "--allow-empty", "-m", "An agent's")
    error = find_head_error(world, state)
    assert error is not None
    switch = "switch --no-recurse-submodules --no-overwrite-ignore"
    assert f"{switch} --detach {str(state.options.base)[:12]}" in error.hints[0]
    git(project, "switch", "-q", "--detach")
    git(project, "branch", "-q", "-f", "main", str(state.options.base))
    theirs = git(project, "rev-parse", "HEAD").strip()
    if taken:
        git(project, "branch", "-q", f"kept-{theirs[:12]}", str(state.options.base))
    follow(world, state)
    assert find_head_error(world, state) is None
    kept = f"kept-{theirs[:12]}{taken}"
    assert git(project, "branch", "--contains", theirs, "--format=%(refname:short)") == f"{kept}\n"


def test_a_commit_that_a_branch_keeps_needs_no_other(project: Path, world: World) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "An agent's")
    theirs = git(project, "rev-parse", "HEAD").strip()
    name = f"kept-{theirs[:12]}"
    assert keep_as(world, theirs) == name
    git(project, "branch", "-q", name, "HEAD~")
    assert keep_as(world, theirs) == f"{name}-2"
    git(project, "branch", "-q", "-f", name, theirs)
    assert keep_as(world, theirs) == ""


def follow(world: World, state: SessionState, hint: int = -2) -> None:
    """Type what a refusal hints at, as a user does."""
    error = find_head_error(world, state)
    assert error is not None
    assert error.hints[-1] == "then: agentmux approve 20260101-101500-x"
    way = error.hints[hint].partition(": ")[2]
    env = {**os.environ, "GIT_EDITOR": ":"}
    subprocess.run(way, shell=True, check=True, cwd=world.project, capture_output=True, env=env)


def write_hook(project: Path, name: str, body: str) -> None:
    hook = project / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n" + body)
    hook.chmod(0o755)


def test_a_commit_counts_once_the_index_is_up_to_it(
    project: Path, world: World, state: SessionState
) -> None:
    write_hook(project, "post-commit", "touch .git/index.lock\n")
    for _ in range(2):  # the first call makes the commit, the second finds it
        with pytest.raises(IndexBusyError):
            commit(world, state, APPROVAL)
    made = world.repository.head().commit
    (project / ".git/index.lock").unlink()
    assert commit(world, state, APPROVAL) == (made, True)
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "log", "--format=%s") == "Add it\nBegin\n"


def test_a_failure_after_the_commit_does_not_unmake_it(
    project: Path, world: World, state: SessionState
) -> None:
    class Late(Git):
        @override
        def commit(self, *args: object, **more: object) -> str:
            super().commit(*args, **more)  # type: ignore[arg-type]
            raise MissingError("git commit did not answer within 600 s: a hook runs on")

    late = replace(world, repository=Late(project, os.environ))
    assert commit(late, state, APPROVAL) == (world.repository.head().commit, False)
    assert git(project, "log", "--format=%s") == "Add it\nBegin\n"


def test_a_failure_after_the_commit_leaves_no_stale_index(
    project: Path, world: World, state: SessionState
) -> None:
    class Late(Git):
        @override
        def commit(self, *args: object, **more: object) -> str:
            with suppress(IndexBusyError):
                super().commit(*args, **more)  # type: ignore[arg-type]
            raise MissingError("git commit did not answer within 600 s: a hook runs on")

    write_hook(project, "post-commit", "touch .git/index.lock\n")
    with pytest.raises(IndexBusyError):
        commit(replace(world, repository=Late(project, os.environ)), state, APPROVAL)
    (project / ".git/index.lock").unlink()
    commit(world, state, APPROVAL)
    assert git(project, "status", "--porcelain") == ""


def test_a_head_that_moves_at_the_last_moment_is_not_committed_on(
    project: Path, world: World, state: SessionState
) -> None:
    class Moving(Git):
        @override
        def changed_since(self, *args: object) -> tuple[str, ...]:
            git(project, "commit", "-q", "--allow-empty", "-m", "mine")
            return super().changed_since(*args)  # type: ignore[arg-type]

    with pytest.raises(HeadMovedError):
        commit(replace(world, repository=Moving(project, os.environ)), state, APPROVAL)
    assert git(project, "log", "--format=%s") == "mine\nBegin\n"
    with pytest.raises(GitError, match="HEAD moved: the session began on"):
        commit(world, state, APPROVAL)
    assert git(project, "log", "--format=%s") == "mine\nBegin\n"


def test_while_another_operation_is_in_progress_nothing_is_committed(
    project: Path, world: World, state: SessionState
) -> None:
    (project / ".git/MERGE_HEAD").write_text(f"{state.options.base}\n")
    error = find_head_error(world, state)
    assert error is not None
    assert error.message == "a merge is in progress in this repository"
    assert "git merge --continue" in error.hints[1]
    with pytest.raises(GitError, match="a merge is in progress"):
        commit(world, state, APPROVAL)
    assert git(project, "log", "--format=%s") == "Begin\n"
    (project / ".git/MERGE_HEAD").unlink()
    assert find_head_error(world, state) is None


def test_without_git_the_reason_is_told(
    tmp_path: Path, project: Path, world: World, state: SessionState
) -> None:
    bare = replace(world, repository=Git(project, {"PATH": str(tmp_path)}))
    with pytest.raises(MissingError) as caught:
        commit(bare, state, APPROVAL)
    assert (
        describe_failure(caught.value) == "git is not installed; install git, then run this again"
    )


def test_a_commit_that_was_not_made_keeps_its_own_reason(
    project: Path, world: World, state: SessionState
) -> None:
    write_hook(project, "pre-commit", "echo 'lint says no' >&2\nexit 1\n")
    with pytest.raises(AgentmuxError, match="lint says no"):
        commit(world, state, APPROVAL)
    assert git(project, "log", "--format=%s") == "Begin\n"


@pytest.mark.parametrize(
    ("feature", "proposed", "said"),
    [
        ("Add\0 \x1b[31mit\udcff", "", "Add [31mit"),
        ("\x07", "", "Apply the feature"),
        ("Add it", "Greet\0\n\n\tand \x08leave", "Greet\n\n\tand leave"),
        ("Add it", "\x07", "Add it"),
    ],
)
def test_control_characters_make_no_commit_impossible(
    world: World, state: SessionState, feature: str, proposed: str, said: str
) -> None:
    review = {"verdict": "pass", "summary": "fine", "commit_message": proposed}
    found = PhaseResult(verdicts={"reviewer_logic": "pass"}, reviews={"reviewer_logic": review})
    state = replace(state, feature=feature, results={"reviewing": found})
    commit(world, state, APPROVAL)
    told = git(world.project, "log", "-1", "--format=%B")
    assert told == f"{said}\n\n{TRAILER}: {APPROVAL}\n\n"


# -- in a worktree of its own --------------------------------------------------------------------


@pytest.fixture
def apart(project: Path, tmp_path: Path) -> tuple[World, SessionState]:
    """A session in a worktree of its own."""
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", str(place), "-b", "agentmux/x")
    base = git(project, "rev-parse", "HEAD").strip()
    state = SessionState(
        phase=Phase.COMPLETING,
        feature="Add it",
        feature_dir=NAME,
        branch="agentmux/x",
        worktree=str(place),
        base=Base(commit=base, branch="main"),
        options=Options(commit=True, base=base),
    )
    return with_workplace(build.world(project, environ=dict(os.environ)), state), state


def test_the_result_of_a_worktree_is_its_branch_and_what_is_not_committed(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    assert commit(world, state, APPROVAL) == (None, False)
    (place / "one.txt").write_text("1\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "By an agent")
    theirs = git(place, "rev-parse", "HEAD").strip()
    assert commit(world, state, APPROVAL) == (theirs, True)
    (place / "two.txt").write_text("2\n")
    found = deliverable(world, state)
    assert (found.message, found.paths, found.uncommitted) == (
        *("Add it", ("one.txt", "two.txt")),
        ("two.txt",),
    )
    (subject,) = found.made_already
    assert subject.endswith(" By an agent")
    made, adopted = commit(world, state, APPROVAL)
    assert (adopted, git(place, "rev-parse", "HEAD^").strip()) == (False, theirs)
    assert git(place, "show", "--format=", "--name-only").split() == ["two.txt"]
    assert commit(world, state, APPROVAL) == (made, True)
    assert git(place, "status", "--porcelain") == ""


def test_what_a_commit_would_undo_is_named(apart: tuple[World, SessionState]) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    (place / "one.txt").write_text("1\n")
    (place / "two.txt").write_text("2\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "By a person")
    assert deliverable(world, state).undone == ()
    (place / "one.txt").unlink()
    (place / "two.txt").write_text("other\n")
    result = deliverable(world, state)
    assert (result.uncommitted, result.undone) == (("one.txt", "two.txt"), ("one.txt",))


def test_what_came_from_the_base_meanwhile_is_not_of_the_result(
    project: Path, apart: tuple[World, SessionState]
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    (place / "one.txt").write_text("1\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "By an agent")
    git(project, "add", "agent.txt")
    git(project, "commit", "-qm", "By somebody else")
    assert deliverable(world, state).paths == ("one.txt",)
    git(place, "merge", "-q", "--no-edit", "main")
    assert deliverable(world, state).paths == ("one.txt",)
    assert [each.partition(" ")[2] for each in deliverable(world, state).made_already] == [
        "By an agent",
        "Merge branch 'main' into agentmux/x",
    ]
    git(project, "checkout", "-q", "--detach")
    git(project, "branch", "-D", "main")
    assert deliverable(world, state).paths == ("agent.txt", "one.txt")


@pytest.mark.parametrize("name", ["main", "one/main"])
def test_the_way_back_to_a_branch_that_is_gone_makes_it_again(project: Path, name: str) -> None:
    git(project, "checkout", "-q", "-B", name)
    world = build.world(project, environ=dict(os.environ))
    head = world.repository.head()
    options = Options(commit=True, base=head.commit)
    state = SessionState(phase=Phase.COMPLETING, branch=head.branch, options=options)
    git(project, "checkout", "-q", "-b", "elsewhere")
    git(project, "commit", "-q", "--allow-empty", "-m", "mine")
    git(project, "branch", "-q", "-D", name)
    git(project, "branch", "-q", f"x/{name}")  # which is another one
    error = find_head_error(world, state)
    assert error is not None
    way = error.hints[0].removeprefix("go back: ")
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    assert find_head_error(world, state) is None


def test_a_branch_that_is_gone_or_has_another_history_is_refused(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    (place / "one.txt").write_text("1\n")
    git(place, "checkout", "-q", "--detach")
    git(place, "branch", "-q", "-D", "agentmux/x")
    with pytest.raises(GitError, match="is not on branch agentmux/x"):
        commit(world, state, APPROVAL)
    follow(world, state)
    assert find_head_error(world, state) is None
    git(place, "commit", "-q", "--amend", "-m", "Other")
    with pytest.raises(GitError, match="was rewritten") as caught:
        commit(world, state, APPROVAL)
    assert "reset" not in str(caught.value.hints)
    git(place, "reset", "-q", "--soft", str(state.options.base))
    assert commit(world, state, APPROVAL)[0]


def test_while_another_operation_is_in_progress_in_the_worktree_nothing_is_committed(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    (place / "one.txt").write_text("1\n")
    head = Path(git(place, "rev-parse", "--absolute-git-dir").strip()) / "MERGE_HEAD"
    head.write_text(f"{state.options.base}\n")
    with pytest.raises(GitError, match=f"a merge is in progress in {place}") as caught:
        commit(world, state, APPROVAL)
    assert f"git -C {place} merge --continue" in caught.value.hints[1]
    assert git(place, "log", "--format=%s") == "Begin\n"
    head.unlink()
    assert commit(world, state, APPROVAL)[0]


# -- a coder that makes a branch of its own -------------------------------------------------------


def committed(place: Path, name: str) -> None:
    (place / name).write_text(f"{name}\n")
    git(place, "add", name)
    git(place, "commit", "-qm", f"Add {name}")


def edited(place: Path) -> None:
    """Leave a staged file, a changed one and one that git does not know."""
    for name in ("staged.txt", "new.txt"):
        (place / name).write_text(f"{name}\n")
    git(place, "add", "staged.txt")
    (place / "README.md").write_text("# Changed\n")


EDITED = "M README.md A staged.txt ?? new.txt"


def edits(place: Path) -> str:
    return " ".join(git(place, "status", "--porcelain").split())


def files_of(place: Path, commit: str = "HEAD") -> set[str]:
    return set(git(place, "ls-tree", "-r", "--name-only", commit).split())


@pytest.mark.parametrize("how", [("-b", "feat/x"), ("--detach",)])
def test_the_branch_is_moved_forward_to_where_a_coder_has_committed(
    apart: tuple[World, SessionState], how: tuple[str, ...]
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    committed(place, "before.txt")
    git(place, "checkout", "-q", *how)
    committed(place, "apart.txt")
    theirs = git(place, "rev-parse", "HEAD").strip()
    edited(place)
    found = deliverable(world, state)
    where = "on feat/x" if "-b" in how else "detached"
    assert (found.found_on[12:].strip(" ,"), len(found.paths)) == (where, 5)
    made, adopted = commit(world, approved(world, state), APPROVAL)
    assert (made is not None, adopted) == (True, False)
    assert git(place, "rev-parse", "agentmux/x", "HEAD^").split() == [made, theirs]
    assert git(place, "symbolic-ref", "HEAD").strip() == "refs/heads/agentmux/x"
    assert files_of(place) >= {"before.txt", "apart.txt", "staged.txt", "new.txt"}
    assert edits(place) == ""
    if "-b" in how:
        assert git(place, "rev-parse", "feat/x").strip() == theirs
    assert commit(world, state, APPROVAL) == (made, True)


def test_the_branch_stays_where_it_is_if_the_files_are_not_those_that_were_shown(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    before = git(place, "rev-parse", "agentmux/x")
    git(place, "checkout", "-q", "-b", "feat/x")
    committed(place, "apart.txt")
    shown = approved(world, state)
    committed(place, "more.txt")
    with pytest.raises(ResultChangedError):
        commit(world, shown, APPROVAL)
    assert git(place, "rev-parse", "agentmux/x") == before
    assert git(place, "symbolic-ref", "HEAD").strip() == "refs/heads/feat/x"


@pytest.mark.parametrize("uncommitted", [False, True])
def test_a_branch_that_was_moved_forward_before_a_kill_is_taken_by_the_next_call(
    apart: tuple[World, SessionState], uncommitted: bool
) -> None:
    """The process was killed between the two commands of git that take the branch."""
    world, state = apart
    place = Path(str(state.worktree))
    git(place, "checkout", "-q", "-b", "feat/x")
    committed(place, "apart.txt")
    if uncommitted:
        (place / "new.txt").write_text("new.txt\n")
    shown = approved(world, state)
    git(place, "update-ref", "refs/heads/agentmux/x", "HEAD")  # and then it was killed
    theirs = git(place, "rev-parse", "feat/x").strip()
    made, _ = commit(world, shown, APPROVAL)
    assert made == git(place, "rev-parse", "agentmux/x").strip()
    assert git(place, "symbolic-ref", "HEAD").strip() == "refs/heads/agentmux/x"
    assert git(place, "rev-parse", "feat/x").strip() == theirs
    assert {"apart.txt", *(["new.txt"] * uncommitted)} <= files_of(place, "agentmux/x")
    assert git(place, "status", "--porcelain") == ""
    assert commit(world, shown, APPROVAL)[0] == made


@pytest.mark.parametrize("how", [("-b", "feat/x"), ("--detach",)])
def test_commits_beside_the_branch_are_merged_by_what_the_refusal_hints_at(
    apart: tuple[World, SessionState], how: tuple[str, ...]
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    git(place, "checkout", "-q", *how)
    committed(place, "apart.txt")
    theirs = git(place, "rev-parse", "HEAD").strip()
    git(place, "checkout", "-q", "agentmux/x")
    committed(place, "here.txt")
    git(place, "checkout", "-q", how[-1] if "-b" in how else theirs)
    (place / "new.txt").write_text("new.txt\n")
    (place / "README.md").write_text("# Changed\n")
    before = edits(place)
    with pytest.raises(GitError, match="is not on branch agentmux/x"):
        commit(world, state, APPROVAL)
    assert files_of(place, "agentmux/x") >= {"here.txt"}
    follow(world, state)
    assert edits(place) == before
    made, _ = commit(world, approved(world, state), APPROVAL)
    assert made is not None
    assert files_of(place, "agentmux/x") >= {"here.txt", "apart.txt", "new.txt"}


@pytest.mark.follows("git -C … switch --detach")
def test_a_branch_that_is_checked_out_elsewhere_is_not_moved(
    project: Path, apart: tuple[World, SessionState]
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    git(place, "checkout", "-q", "-b", "feat/x")
    committed(place, "apart.txt")
    git(project, "switch", "-q", "agentmux/x")
    edited(project)
    before = edits(project)
    with pytest.raises(GitError, match=f"as it is checked out in {project}"):
        commit(world, state, APPROVAL)
    follow(world, state)
    assert edits(project) == before
    made, _ = commit(world, approved(world, state), APPROVAL)
    assert made == git(place, "rev-parse", "agentmux/x").strip()


def test_a_merge_that_has_begun_is_finished_and_not_thrown_away(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    git(place, "checkout", "-q", "-b", "feat/x")
    committed(place, "apart.txt")
    git(place, "checkout", "-q", "agentmux/x")
    committed(place, "here.txt")
    git(place, "merge", "-q", "--no-commit", "feat/x")
    (place / "resolved.txt").write_text("resolved\n")
    git(place, "add", "resolved.txt")
    error = find_head_error(world, state)
    assert error is not None
    assert error.hints[0] == f"see what is left to resolve: git -C {place} status"
    assert error.hints[1] == f"finish it: git -C {place} merge --continue"
    follow(world, state)
    assert files_of(place) >= {"apart.txt", "here.txt", "resolved.txt"}


@pytest.mark.follows("git reset --soft …")
@pytest.mark.parametrize("how", [("-b", "feat/x"), ("--detach",)])
def test_the_hints_in_a_checkout_take_along_what_the_session_made(
    project: Path, world: World, state: SessionState, how: tuple[str, ...]
) -> None:
    git(project, "checkout", "-q", *how)
    committed(project, "apart.txt")
    edited(project)
    before = edits(project)
    follow(world, state, 1)
    assert edits(project) == before
    error = find_head_error(world, state)
    assert error is not None
    assert " Add apart.txt), have them in its commit: git branch kept-" in error.hints[-2]
    way = error.hints[-2].partition("commit: ")[2]
    theirs = git(project, "rev-parse", "HEAD").strip()
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    assert git(project, "branch", "--contains", theirs, "--format=%(refname:short)")
    made, _ = commit(world, state, APPROVAL)
    assert files_of(project, str(made)) >= {"apart.txt", "staged.txt", "new.txt", "agent.txt"}


@pytest.mark.parametrize("how", [("-b", "feat/x"), ("--detach",)])
def test_the_hint_to_go_back_in_a_checkout_leaves_each_commit_on_a_branch(
    project: Path, world: World, state: SessionState, how: tuple[str, ...]
) -> None:
    git(project, "checkout", "-q", *how)
    committed(project, "mine.txt")
    mine = git(project, "rev-parse", "HEAD").strip()
    follow(world, state)
    assert find_head_error(world, state) is None
    assert git(project, "branch", "--contains", mine, "--format=%(refname:short)") != ""


@pytest.mark.follows("git update-ref -d HEAD", "git branch … HEAD && …")
def test_the_hint_for_a_first_commit_leaves_it_on_a_branch(tmp_path: Path) -> None:
    project = tmp_path / "new"
    project.mkdir()
    git(project, "init", "-q")
    git(project, "config", "user.name", "Test")
    git(project, "config", "user.email", "test@example.com")
    world = build.world(project, environ=dict(os.environ))
    branch = world.repository.head().branch
    state = SessionState(phase=Phase.COMPLETING, branch=branch, options=Options(commit=True))
    for name in ("one.txt", "two.txt"):
        committed(project, name)
    mine = git(project, "rev-parse", "HEAD").strip()
    error = find_head_error(world, state)
    assert error is not None
    way = error.hints[1].partition("commit: ")[2]
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    assert find_head_error(world, state) is None
    assert git(project, "branch", "--contains", mine, "--format=%(refname:short)") != ""
    assert commit(world, state, APPROVAL)[0] is not None
    assert files_of(project) == {"one.txt", "two.txt"}


def test_hooks_that_the_worktree_does_not_have_are_named(
    project: Path, apart: tuple[World, SessionState]
) -> None:
    world, _ = apart
    assert world.repository.missing_hooks() is None
    git(project, "config", "core.hooksPath", ".husky/_")
    assert world.repository.missing_hooks() == ".husky/_"
    (project / ".husky" / "_").mkdir(parents=True)
    assert world.repository.missing_hooks() == ".husky/_"
    assert build.world(project, environ=dict(os.environ)).repository.missing_hooks() is None


# -- only what was shown is committed -----------------------------------------------------------


def approved(world: World, state: SessionState) -> SessionState:
    """Return the state with an approval of the files as they are now."""
    return replace(state, approval=APPROVAL, approved_tree=deliverable(world, state).tree)


def test_the_tree_that_is_shown_is_the_one_that_is_committed(
    world: World, project: Path, state: SessionState
) -> None:
    (project / "README.md").unlink()
    before = git(project, "count-objects")
    state = approved(world, state)
    assert git(project, "count-objects") == before, "a look leaves no objects"
    made, _ = commit(world, state, APPROVAL)
    assert made is not None
    assert git(project, "rev-parse", f"{made}^{{tree}}").strip() == state.approved_tree
    assert git(project, "status", "--porcelain") == ""


def test_a_file_that_changed_after_it_was_shown_is_not_committed(
    world: World, project: Path, state: SessionState
) -> None:
    state, head = approved(world, state), git(project, "rev-parse", "HEAD")
    for change in (
        lambda: (project / "agent.txt").write_text("y\n"),
        lambda: (project / "more.txt").write_text("more\n"),
        (project / "agent.txt").unlink,
    ):
        change()
        with pytest.raises(ResultChangedError, match="have changed since they were shown"):
            commit(world, state, APPROVAL)
        assert git(project, "rev-parse", "HEAD") == head
    (project / "more.txt").unlink()
    with pytest.raises(ResultChangedError):  # nothing is left to commit
        commit(world, state, APPROVAL)
    (project / "agent.txt").write_text("x\n")
    assert commit(world, state, APPROVAL)[0] is not None


def test_what_an_agent_commits_after_it_was_shown_is_not_delivered(
    apart: tuple[World, SessionState],
) -> None:
    world, state = apart
    place = Path(str(state.worktree))
    (place / "one.txt").write_text("1\n")
    state = approved(world, state)
    (place / "two.txt").write_text("2\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "By an agent")
    with pytest.raises(ResultChangedError):
        commit(world, state, APPROVAL)
    git(place, "reset", "-q", "--hard", "HEAD^")
    (place / "one.txt").write_text("1\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "Only what was shown")
    assert commit(world, state, APPROVAL)[1]


def test_a_commit_that_was_made_before_a_crash_is_adopted_though_files_have_changed(
    world: World, project: Path, state: SessionState
) -> None:
    state = approved(world, state)
    made, _ = commit(world, state, APPROVAL)
    (project / "agent.txt").write_text("the user goes on\n")
    assert commit(world, state, APPROVAL) == (made, True)
