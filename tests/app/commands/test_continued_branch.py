"""``start --on``: which branch or request is meant, with real git and a `gh` of ours."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.commands.begin.continued_branch import ContinuedBranch, find_continued
from agentmux.app.commands.begin.start import StartRequest, plan_start
from agentmux.app.world import World
from agentmux.errors import BlockedError, NotFoundError, UsageError
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.fakes.bench import Bench as TmuxTerminal
from tests.fakes.forge import FakeForge


class Scene:
    """A project, ``o/r`` on the forge, with a branch ``fix``."""

    def __init__(self, root: Path) -> None:
        self.forge = FakeForge(root / "forge")
        self.project = make_project(root / "p")
        self.head = git(self.project, "rev-parse", "HEAD").strip()
        git(self.project, "branch", "fix")
        self.remote("origin", "o/r")

    def remote(self, name: str, repository: str, host: str = "github.com") -> None:
        git(self.project, "remote", "add", name, f"https://{host}/{repository}.git")

    @property
    def world(self) -> World:
        path = f"{self.forge.bin}:{os.environ['PATH']}"
        environ = {**os.environ, **self.forge.environment, "PATH": path}
        return build.world(self.project, environ=environ)

    def find(self, given: str) -> ContinuedBranch:
        return find_continued(self.world, given)

    def request(self, **fields: object) -> None:
        self.forge.request(**{"branch": "fix", "commit": self.head, **fields})


@pytest.fixture
def scene(tmp_path: Path, isolated: str) -> Scene:
    return Scene(tmp_path)


def test_a_branch_comes_before_the_request_with_that_number(scene: Scene) -> None:
    scene.request()
    git(scene.project, "branch", "100")
    assert scene.find("100") == ContinuedBranch(name="100", commit=scene.head)
    found = scene.find("#100")
    assert (found.name, found.request is not None) == ("fix", True)


def test_what_is_here_at_the_same_commit_is_brought_from_nowhere(scene: Scene) -> None:
    scene.request(base="develop")
    found = scene.find("https://github.com/o/r/pull/100")
    assert (found.name, found.base, found.remote) == ("fix", "develop", None)
    git(scene.project, "branch", "-D", "fix")
    assert scene.find("100").remote == "origin"


def test_a_branch_on_several_remotes_is_asked_about(scene: Scene) -> None:
    for name in ("origin", "other"):
        git(scene.project, "update-ref", f"refs/remotes/{name}/there", "HEAD")
    assert scene.find("there").remote == "origin"
    scene.remote("other", "a/b")
    with pytest.raises(UsageError, match="is on several remotes: origin, other"):
        scene.find("there")


@pytest.mark.parametrize(("state", "word"), [("MERGED", "merged"), ("CLOSED", "closed")])
def test_a_request_that_is_not_open_says_how_it_ended(scene: Scene, state: str, word: str) -> None:
    scene.request(state=state)
    with pytest.raises(NotFoundError, match=rf"/pull/100 is {word}$"):
        scene.find("100")


def test_the_repository_of_a_request_is_one_of_the_remotes(scene: Scene) -> None:
    scene.forge.repository("Me/R")
    scene.request(source="github.com/Me/R")
    with pytest.raises(UsageError, match="which is no remote of this repository"):
        scene.find("100")
    scene.remote("elsewhere", "me/r", host="gitlab.com")
    with pytest.raises(UsageError, match="which is no remote of this repository"):
        scene.find("100")
    git(scene.project, "branch", "-D", "fix")
    scene.remote("mine", "ME/r")  # a forge's names have no case
    assert scene.find("100").remote == "mine"


@pytest.mark.parametrize("name", ["nowhere", "main~0", "-x", "HEAD", "refs/heads/fix"])
def test_only_the_exact_name_of_a_branch_is_one(scene: Scene, name: str) -> None:
    with pytest.raises(NotFoundError, match=f"there is no branch `{name}`"):
        scene.find(name)


def test_a_branch_that_is_checked_out_is_not_continued(scene: Scene) -> None:
    with pytest.raises(BlockedError, match=f"`main` is checked out in {scene.project}") as caught:
        scene.find("main")
    assert caught.value.hints == (f"leave it there: git -C {scene.project} switch --detach",)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"base": "main"}, "takes neither --base nor --branch"),
        ({"branch": "x"}, "takes neither --base nor --branch"),
        ({"worktree": False}, "--on makes one: it needs --worktree"),
    ],
)
def test_options_that_contradict_a_continued_branch(
    scene: Scene, tmux: TmuxTerminal, more: dict[str, Any], words: str
) -> None:
    world = replace(scene.world, terminal=lambda socket: tmux)
    on = ContinuedBranch(name="fix", commit=scene.head)
    with pytest.raises(UsageError, match=words):
        plan_start(world, StartRequest(feature="x", agent="demo", on=on, **more), {})


def test_a_branch_that_is_elsewhere_here_is_not_continued(scene: Scene) -> None:
    scene.request(commit="c" * 40)
    with pytest.raises(BlockedError, match=r"is at c{12}$"):
        scene.find("100")


def test_it_needs_a_repository(tmp_path: Path, isolated: str) -> None:
    (tmp_path / "plain").mkdir()
    world = build.world(tmp_path / "plain", environ=dict(os.environ))
    with pytest.raises(UsageError, match="--on needs a git repository"):
        find_continued(world, "fix")


def test_it_goes_into_the_base_of_its_request_or_else_what_is_checked_out(
    scene: Scene, tmux: TmuxTerminal
) -> None:
    world = replace(scene.world, terminal=lambda socket: tmux)
    for on, base in (
        (ContinuedBranch(name="fix", commit=scene.head), "main"),
        (ContinuedBranch(name="fix", commit=scene.head, base="develop"), "develop"),
    ):
        plan = plan_start(world, StartRequest(feature="x", agent="demo", on=on), {})
        assert plan.state.base is not None
        assert plan.state.base.branch == base
