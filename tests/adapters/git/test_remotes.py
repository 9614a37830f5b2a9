"""Which remote a branch is pushed to, and pushing, with a bare repository as the remote."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.remotes import ConfiguredRemotes, _has_rejected, _without_password
from agentmux.ports.git.remotes import NoRemoteError
from agentmux.ports.git.repository import GitError, GitRefusedError
from tests.app.driver import git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def remotes(project: Path) -> ConfiguredRemotes:
    return ConfiguredRemotes(GitProgram(project, os.environ))


def add(project: Path, name: str) -> Path:
    made = project.parent / f"{name}.git"
    git(project, "init", "-q", "--bare", str(made))
    git(project, "remote", "add", name, str(made))
    return made


def tip(folder: Path, ref: str) -> str:
    return git(folder, "rev-parse", ref).strip()


def test_the_most_specific_setting_counts_and_else_the_only_remote(project: Path) -> None:
    with pytest.raises(NoRemoteError, match="has no remote"):
        remotes(project).target("main")
    add(project, "one")
    assert remotes(project).target("main") == "one"
    add(project, "two")
    with pytest.raises(NoRemoteError, match="several remotes: one, two") as caught:
        remotes(project).target("main")
    assert caught.value.remotes == ("one", "two")
    for key, value, wanted in (
        ("branch.main.remote", ".", None),
        ("branch.main.remote", "one", "one"),
        ("remote.pushDefault", "two", "two"),
        ("branch.main.pushRemote", "one", "one"),
    ):
        git(project, "config", key, value)
        if wanted is not None:
            assert remotes(project).target("main") == wanted


def test_a_push_can_be_repeated_and_is_never_forced(project: Path) -> None:
    there = add(project, "origin")
    first = tip(project, "HEAD")
    for _ in range(2):
        remotes(project).push("origin", "agentmux/x", first)
        assert tip(there, "agentmux/x") == first
    git(project, "commit", "-q", "--allow-empty", "-m", "Second")
    remotes(project).push("origin", "agentmux/x", tip(project, "HEAD"))
    git(project, "reset", "-q", "--hard", first)
    git(project, "commit", "-q", "--allow-empty", "-m", "Other")
    before = tip(there, "agentmux/x")
    with pytest.raises(GitError, match="git could not push to `origin`"):
        remotes(project).push("origin", "agentmux/x", tip(project, "HEAD"))
    assert tip(there, "agentmux/x") == before


@pytest.mark.parametrize("key", ["url", "pushurl"])
def test_a_relative_url_counts_from_the_checkout_as_the_users_own_push(
    project: Path, key: str
) -> None:
    there = add(project, "origin")
    git(project, "config", "remote.origin.url", "https://example.invalid/r.git")
    git(project, "config", f"remote.origin.{key}", "../origin.git")
    place = project.parent / "worktrees" / "x"
    git(project, "worktree", "add", "-q", "-b", "agentmux/x", str(place))
    commit = tip(place, "HEAD")
    for folder, name in ((place, "from-the-worktree"), (project, "from-the-checkout")):
        remotes(folder).push("origin", name, commit)
        assert tip(there, name) == commit


def test_what_was_rejected_is_fetched_from_where_it_was_pushed(project: Path) -> None:
    for name in ("origin", "up", "fork"):
        add(project, name)
    up, fork = project.parent / "up.git", project.parent / "fork.git"
    first = tip(project, "HEAD")
    git(project, "push", "-q", str(fork), "HEAD:refs/heads/agentmux/x")
    git(project, "commit", "-q", "--allow-empty", "-m", "By somebody")
    git(project, "push", "-q", str(fork), "HEAD:refs/heads/agentmux/x")
    git(project, "reset", "-q", "--hard", first)
    git(project, "commit", "-q", "--allow-empty", "-m", "Mine")
    mine = tip(project, "HEAD")
    git(project, "remote", "set-url", "--push", "origin", str(up))
    git(project, "remote", "set-url", "--push", "--add", "origin", str(fork))
    with pytest.raises(GitRefusedError) as caught:
        remotes(project).push("origin", "agentmux/x", mine)
    assert f" fetch {fork} agentmux/x && " in caught.value.hints[0]
    git(project, "config", "--unset-all", "remote.origin.pushurl")
    git(project, "remote", "set-url", "origin", str(fork))
    git(project, "update-ref", "-d", "refs/remotes/origin/agentmux/x")
    with pytest.raises(GitRefusedError) as caught:
        remotes(project).push("origin", "agentmux/x", mine)
    assert " fetch origin agentmux/x && " in caught.value.hints[0]


def test_no_password_stands_in_a_hint() -> None:
    url = "https://me:secret@example.invalid/r.git"
    assert _without_password(url) == "https://me@example.invalid/r.git"
    assert _has_rejected(url, "To https://example.invalid/r.git\n ! [rejected] x -> x")
    assert _has_rejected("git@example.invalid:r", "To example.invalid:r\n ! [rejected] x -> x")
    assert _without_password("/srv/a:b@c/r.git") == "/srv/a:b@c/r.git"


def test_a_push_that_others_went_on_from_counts_as_done(project: Path) -> None:
    there = add(project, "origin")
    first = tip(project, "HEAD")
    remotes(project).push("origin", "agentmux/x", first)
    git(project, "commit", "-q", "--allow-empty", "-m", "By somebody")
    git(project, "push", "-q", "origin", "HEAD:refs/heads/agentmux/x")
    remotes(project).push("origin", "agentmux/x", first)
    assert tip(there, "agentmux/x") == tip(project, "HEAD")


def test_the_words_of_hook_and_remote_are_told(project: Path) -> None:
    hook = project / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'tests first' >&2\nexit 1\n")
    hook.chmod(0o755)
    add(project, "origin")
    with pytest.raises(GitError, match="tests first"):
        remotes(project).push("origin", "agentmux/x", tip(project, "HEAD"))
    with pytest.raises(GitError, match="nowhere"):
        remotes(project).push(str(project.parent / "nowhere"), "x", tip(project, "HEAD"))
