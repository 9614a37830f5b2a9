"""Which project a directory belongs to, and where this user's files are."""

from pathlib import Path

import pytest

from agentmux.cli.fast import commands
from agentmux.core.names.words.located_commands import ANYWHERE
from agentmux.errors import UsageError
from agentmux.wiring import machine

NO_HOME = {"HOME": "/nonexistent"}


def repository(top: Path) -> Path:
    (top / ".git").mkdir(parents=True)
    (top / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return top


def test_the_project_is_found_upwards(tmp_path: Path) -> None:
    top = tmp_path / "top"
    deep = top / "a" / "b"
    deep.mkdir(parents=True)
    assert machine.project_of(deep, NO_HOME) == deep.resolve()
    repository(top)
    assert machine.project_of(deep, NO_HOME) == top
    (top / "a" / ".agentmux").mkdir()
    assert machine.project_of(deep, NO_HOME) == top / "a"


def test_the_path_of_a_session_says_whose_it_is(tmp_path: Path) -> None:
    inside = tmp_path / ".agentmux/.sessions/20260101-101500-x/03_research"
    inside.mkdir(parents=True)
    assert machine.project_of(inside, NO_HOME) == tmp_path
    (inside / ".agentmux").mkdir()
    repository(inside)
    assert machine.project_of(inside, NO_HOME) == tmp_path
    assert machine.project_of(inside, {"HOME": str(tmp_path)}) == tmp_path


@pytest.mark.parametrize("above", ["", "code"])
def test_a_folder_above_the_repository_does_not_capture_it(tmp_path: Path, above: str) -> None:
    top = repository(tmp_path / "code/app")
    (top / "src").mkdir()
    (tmp_path / above / ".agentmux").mkdir()
    assert machine.project_of(top, NO_HOME) == top
    assert machine.project_of(top / "src", NO_HOME) == top
    assert machine.project_of(tmp_path / "code", NO_HOME) == tmp_path / above


def test_the_nearest_counts_for_a_linked_worktree_and_a_moved_one(tmp_path: Path) -> None:
    linked = repository(tmp_path) / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: /nonexistent/.git/worktrees/linked\n")
    assert machine.project_of(linked, NO_HOME) == linked


def test_a_folder_called_git_that_is_no_repository_does_not_count(tmp_path: Path) -> None:
    below = repository(tmp_path) / "below"
    (below / ".git").mkdir(parents=True)
    assert machine.project_of(below, NO_HOME) == tmp_path


def test_home_captures_nothing_below_it(tmp_path: Path) -> None:
    environ = {"HOME": str(repository(tmp_path))}
    (tmp_path / ".agentmux").mkdir()
    below = tmp_path / "new/idea"
    below.mkdir(parents=True)
    assert machine.project_of(below, environ) == below
    assert machine.project_of(tmp_path, environ) == tmp_path
    (tmp_path / "new/.agentmux").mkdir()
    assert machine.project_of(below, environ) == tmp_path / "new"


def test_what_holds_all_is_home_by_any_name_and_the_root(tmp_path: Path) -> None:
    home = tmp_path / "me"
    home.mkdir()
    (tmp_path / "link").symlink_to(home)
    environ = {"HOME": str(tmp_path / "link")}
    assert machine.holds_all(machine.project_of(tmp_path / "link", environ), environ)
    assert machine.holds_all(Path("/"), {})
    assert not machine.holds_all(tmp_path, environ)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a directory"):
        machine.project_of(tmp_path / "none", NO_HOME)


def test_a_relative_folder_in_the_environment_is_passed_over() -> None:
    environ = {"XDG_STATE_HOME": "relative", "HOME": "/home/me"}
    assert machine.state_dir(environ) == Path("/home/me/.local/state/agentmux")
    assert machine.state_dir({"XDG_STATE_HOME": "/x"}) == Path("/x/agentmux")


def test_commands_name_the_project_where_it_is_not_that_of_the_reader() -> None:
    said, there = "to go on: agentmux resume x; or: git status", Path("/a b")
    located = "to go on: agentmux --project '/a b' resume x; or: git -C '/a b' status"
    assert machine.locate(said, there) == machine.locate(said, there, Path("/c")) == located
    assert machine.locate(said, there, there) == said
    assert all(
        machine.locate(f"agentmux {each.name}", there) != f"agentmux {each.name}"
        for each in commands.load().commands
        if each.name not in ANYWHERE
    )
