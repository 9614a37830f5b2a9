"""The fleet's demo fails when a commit is missing, made twice, or was not approved."""

from dataclasses import replace

import pytest

from agentmux.demo.fleet.proof import CountedCommit, claims, read_commits

FEATURES = ("Add mean", "Add mode")
FIRST = CountedCommit(id="a", parents=(), subject="Add a small calculator", event="")
MEAN = CountedCommit(id="b", parents=("a",), subject="Add mean", event="1")
MODE = CountedCommit(id="c", parents=("a",), subject="Add mode", event="2")
BRANCHES = {"main": "a", "agentmux/add-mean": "b", "agentmux/add-mode": "c"}
SESSIONS = {"one": ["s1"], "two": ["s2"]}


def wrong(commits=(FIRST, MEAN, MODE), branches=BRANCHES, sessions=SESSIONS) -> list[str]:
    found = claims(FEATURES, commits, branches, sessions)
    return [each.text for each in found if not each.holds]


def test_a_commit_for_each_feature_is_right() -> None:
    assert wrong() == []


@pytest.mark.parametrize(
    ("commits", "said"),
    [
        ((FIRST, MEAN), "commits: `Add mode` 0 times"),
        ((FIRST, MEAN, MODE, replace(MODE, id="d")), "commits: `Add mode` 2 times"),
        ((FIRST, MEAN, replace(MODE, subject="x")), "commits: `Add mode` 0 times, `x` 1 times"),
        ((FIRST, MEAN, replace(MODE, parents=("b",))), "2 branches were pushed, with 2 commits"),
        ((FIRST, MEAN, replace(MODE, event="1")), "2 commits name 1 different approvals"),
        ((FIRST, MEAN, replace(MODE, event="")), "2 commits name 2 different approvals"),
    ],
)
def test_a_commit_that_is_wrong_is_named(commits: tuple[CountedCommit, ...], said: str) -> None:
    assert any(text.startswith(said) for text in wrong(commits))


def test_a_branch_that_is_missing_or_moved_is_wrong() -> None:
    assert wrong(branches={**BRANCHES, "main": "b"})
    assert wrong(branches={name: tip for name, tip in BRANCHES.items() if tip != "c"})


@pytest.mark.parametrize("more", [{"two": []}, {"two": ["s2", "s3"]}])
def test_a_session_more_and_an_idle_host_are_wrong(more: dict[str, list[str]]) -> None:
    (said,) = wrong(sessions={**SESSIONS, **more})
    assert "sessions were begun" in said


def test_the_log_of_git_is_read() -> None:
    log = "b\x1fa\x1fAdd mean\x1f1\na\x1f\x1fAdd a small calculator\x1f\n"
    assert read_commits(log) == (MEAN, FIRST)
