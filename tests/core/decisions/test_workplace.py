"""Where a new session works, and what its worktree and branch are called."""

from dataclasses import replace
from typing import Any, Final

import pytest

from agentmux.core.config.settings import WorktreeMode
from agentmux.core.decisions.workplace import (
    LeftBranch,
    free_folder,
    free_names,
    free_port_base,
    has_left,
    in_the_way_of,
    left_branch_message,
    left_branch_notice,
    ways_back,
    why_worktree,
    workplace_choices,
)
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names.phase import Phase

NEVER, AUTO, ALWAYS = WorktreeMode


@pytest.mark.parametrize("mode", WorktreeMode)
def test_a_person_can_choose_what_the_flags_choose(mode: WorktreeMode) -> None:
    (usual, says), *others = workplace_choices(mode)
    assert (usual, [name for name, _ in others]) == ("as usual", ["worktree", "no-worktree"])
    assert (mode.value in says) is (mode is not AUTO)


@pytest.mark.parametrize(
    ("mode", "asked", "live", "unfinished", "words"),
    [
        (NEVER, None, "a", ("b",), ""),
        (NEVER, True, "", (), "you asked"),
        (AUTO, None, "", (), ""),
        (AUTO, None, "a", ("a", "b"), "session a is live"),
        (AUTO, None, "", ("b",), "session b began in the checkout and is not done"),
        (AUTO, None, "", ("b", "c"), "2 unfinished sessions began in the checkout, the newest"),
        (AUTO, False, "a", ("b",), ""),
        (AUTO, True, "", (), "you asked"),
        (ALWAYS, None, "", (), "`git.worktree` is `always`"),
        (ALWAYS, False, "", (), ""),
    ],
)
def test_who_gets_a_worktree(
    mode: WorktreeMode, asked: bool | None, live: str, unfinished: tuple[str, ...], words: str
) -> None:
    found = why_worktree(mode, asked=asked, live=live, unfinished=unfinished)
    assert found.startswith(words)
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("folders", "branches", "folder"),
    [
        ((), (), "x"),
        (("x",), (), "x-2"),
        ((), ("agentmux/x",), "x-2"),
        (("x", "x-3"), ("agentmux/x-2",), "x-4"),
        (("X",), (), "x-2"),
        ((), ("x",), "x"),
    ],
)
def test_directory_and_branch_get_the_same_suffix(
    folders: tuple[str, ...], branches: tuple[str, ...], folder: str
) -> None:
    found = free_names("x", "agentmux/", folders=folders, branches=branches)
    assert (found.folder, found.branch) == (folder, f"agentmux/{folder}")
    assert free_folder("x", ["x"]) == "x-2"


def test_branches_that_git_cannot_hold_beside_each_other() -> None:
    assert in_the_way_of("agentmux/x", ["main", "agentmux"]) == "agentmux"
    assert in_the_way_of("agentmux", ["agentmux/x"]) == "agentmux/x"
    assert in_the_way_of("agentmux/x", ["agentmux/y", "agent", "agentmux/xy"]) is None


def test_each_session_of_a_project_has_ports_of_its_own() -> None:
    uuid = "11111111-2222-3333-4444-555555555555"
    first = free_port_base(uuid, ())
    assert free_port_base(uuid, ()) == first
    taken: list[int] = []
    for _ in range(200):
        taken.append(free_port_base(uuid, taken))
    assert sorted(taken) == list(range(20_000, 30_000, 50))
    assert free_port_base(uuid, taken) == first


BEGAN = SessionState(
    phase=Phase.PLANNING, branch="main", options=Options(base="a" * 40, commit=True)
)


@pytest.mark.parametrize(
    ("state", "commit", "branch"),
    [
        (BEGAN, "a" * 40, "main"),
        (BEGAN, "b" * 40, "main"),  # commits on the branch are the rule of the commit
        (replace(BEGAN, branch=None), "a" * 40, None),
        (SessionState(phase=Phase.PLANNING), "a" * 40, "main"),  # not begun in a repository
        (replace(BEGAN, options=Options()), None, "main"),
    ],
)
def test_a_session_on_its_branch(
    state: SessionState, commit: str | None, branch: str | None
) -> None:
    assert not has_left(state, commit, branch)


def away(**changed: Any) -> LeftBranch:
    left = LeftBranch(branch="main", base="a" * 40, worktree=None, head="b" * 40, head_branch="a b")
    return replace(left, **changed)


DETACHED: Final[Any] = {"head_branch": None, "keep_as": "kept-bbbbbbbbbbbb-2"}
"""HEAD is on no branch, and the usual name for what a hint keeps is taken."""


SWITCH = "git switch --no-recurse-submodules --no-overwrite-ignore"


def test_a_session_whose_place_has_another_branch() -> None:
    assert has_left(BEGAN, "a" * 40, "a b")
    assert left_branch_message(BEGAN, away()) == (
        "your checkout is on branch a b now, but the session began on branch main: agents would "
        "work on other files, and nothing could be committed at the end; go back:"
        " git switch --no-recurse-submodules --no-overwrite-ignore main"
    )
    own = away(worktree="/w 1", branch="x y", head_branch=None)
    said = left_branch_message(replace(BEGAN, worktree="/w 1", branch="x y"), own)
    assert said.startswith("/w 1 is on bbbbbbbbbbbb, detached now, but the session began on branch")
    assert said.endswith(
        "go back: git -C '/w 1' switch --no-recurse-submodules --no-overwrite-ignore 'x y'"
    )
    detached = replace(BEGAN, branch=None, options=Options(base="a" * 40, commit=False))
    assert has_left(detached, "b" * 40, None)
    seen = away(branch=None, worktree="/w", is_ahead=True, **DETACHED)
    assert left_branch_message(detached, seen).endswith(
        "the session began on aaaaaaaaaaaa, detached: agents would work on other files; go back: "
        "git -C /w branch kept-bbbbbbbbbbbb-2 HEAD && git -C /w switch --no-recurse-submodules"
        f" --no-overwrite-ignore --detach {'a' * 40}"
    )


def test_the_ways_back_leave_no_commit_behind() -> None:
    along = f"git -C /w fetch -q . HEAD:refs/heads/main && {SWITCH} main".replace(
        "git switch", "git -C /w switch"
    )
    own = away(worktree="/w", is_ahead=True)
    assert ways_back(own) == (f"take its commits along: {along}",)
    assert ": an approval moves main forward to it; " in left_branch_message(BEGAN, own)
    joined = (
        "git -C /w -c core.hooksPath=/dev/null switch --no-recurse-submodules --no-overwrite-ignore"
        " --detach main && git -C /w -c core.hooksPath=/dev/null checkout --no-recurse-submodules"
        " --no-overwrite-ignore -"
        " && git -C /w merge --no-edit main"
    )
    behind = replace(own, is_behind=True)
    assert ways_back(behind) == (f"take its commits along: {joined}",)
    assert ways_back(replace(behind, head_branch=None)) == ways_back(behind)
    assert ways_back(replace(behind, is_changed=True)) == (
        "commit first what is changed there: git -C /w commit -a -m 'Work in progress'",
        *ways_back(behind),
    )
    assert ways_back(replace(own, is_changed=True)) == ways_back(own)
    (alone,) = ways_back(replace(behind, is_related=False))
    assert alone.endswith(" merge --no-edit --allow-unrelated-histories main")
    shared = replace(behind, worktree=None)
    assert ways_back(shared)[1].startswith("if anything is staged, commit it first: git commit")
    assert ways_back(shared)[2].endswith(f"{joined} && {along}".replace(" -C /w", ""))
    assert ways_back(replace(own, is_gone=True)) == (
        "go back: git -C /w switch --no-recurse-submodules --no-overwrite-ignore -c main",
    )
    assert ways_back(away(is_ahead=True, **DETACHED)) == (
        "see what only HEAD has: git log --oneline main..HEAD",
        f"if this session made it, take it along: {along.replace(' -C /w', '')}",
        f"if not, go back: git branch kept-bbbbbbbbbbbb-2 HEAD && {SWITCH} main",
    )
    kept = away(is_ahead=True, head_branch=None, keep_as="")
    assert ways_back(kept)[-1] == f"if not, go back: {SWITCH} main"
    assert ways_back(away(branch=None, is_ahead=True))[1:] == (
        "if this session made it, take it along: git switch --detach",
        f"if not, go back: {SWITCH} --detach {'a' * 40}",
    )
    assert ways_back(away(is_ahead=True, is_gone=True, **DETACHED)) == (
        f"go back: git branch kept-bbbbbbbbbbbb-2 HEAD && {SWITCH} -c main {'a' * 40}",
    )


def test_a_head_that_leaves_the_branch_is_named_at_once() -> None:
    own = replace(BEGAN, branch="agentmux/x", worktree="/w")
    assert left_branch_notice(own, "agentmux/x") == ""
    assert left_branch_notice(own, None) == ""
    assert left_branch_notice(own, "feat/x") == (
        "/w is on branch feat/x now, not on branch agentmux/x, on which the session began: "
        "`agentmux approve` says what becomes of the commits there"
    )
    assert left_branch_notice(BEGAN, "").startswith(
        "your checkout is on a detached HEAD now, not on branch"
    )
    assert (
        left_branch_notice(replace(own, options=Options(base="a" * 40, commit=False)), "feat/x")
        == ""
    )
