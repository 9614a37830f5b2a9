"""An approved result, killed before and after each git command and durable write of its delivery.

As in `tests.app.test_crash_sweep`, with real git, a `gh` of ours, and a short run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentmux.adapters.forge import command_line
from tests.app.driver import MESSAGE, Studio, git
from tests.app.recording import one_of_each
from tests.app.sweeping import begin, outcome, recorded, sweep
from tests.fakes.forge import FakeForge

pytestmark = pytest.mark.long


def test_a_kill_around_the_commit_leaves_one_commit(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the user's own checkout."""
    studio = begin(quick)
    images = one_of_each(recorded(studio, quick, monkeypatch, first="approve").images)
    assert len(images) > 15
    wanted = outcome(studio)
    sweep(studio, wanted, images, "resume")
    sweep(studio, wanted, images[::2], "reattach")


STEP_DONE = "delivery_step_done"
WAYS = {
    # Whether the base is checked out; the event that the images begin with; the command in them.
    ("merge", True): ("approve", "git merge"),
    ("merge", False): ("commit_made", "git update-ref"),
    ("push", True): ("commit_made", "git push"),
    ("pr", True): (STEP_DONE, "gh pr create"),
}


@pytest.mark.parametrize(
    ("then", "checked_out"),
    [
        ("merge", True),
        *(
            pytest.param(*way, marks=pytest.mark.rare("CI kills around a merge"))
            for way in WAYS
            if way != ("merge", True)
        ),
    ],
)
def test_a_kill_around_a_delivery_changes_nothing_in_the_end(
    then: str, checked_out: bool, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "SETTLES_S", 0.0)
    (quick / "ground").mkdir()
    forge = FakeForge(quick / "ground" / "forge" / ".git")
    monkeypatch.setenv("PATH", str(forge.bin), prepend=":")
    studio = begin(quick, worktree=True, environ=forge.environment)
    studio.then = then
    studio.start()
    with_a_remote(studio, forge)
    project = studio.project
    if not checked_out:
        git(project, "checkout", "-q", "-b", "elsewhere")
    (project / "mine.txt").write_text("not committed\n")
    first, command = WAYS[then, checked_out]
    images = one_of_each(recorded(studio, quick, monkeypatch, first=first).images)
    assert command in {image.after for image in images}
    wanted = outcome(studio)
    assert ("Merge branch" in wanted.delivered) == (then == "merge")
    assert ("['add-a-calculator']" in wanted.delivered) == (then in {"push", "pr"})
    assert wanted.delivered.endswith(f"['#100 {MESSAGE}']" if then == "pr" else "[]")
    sweep(studio, wanted, images, "resume")


def with_a_remote(studio: Studio, forge: FakeForge) -> None:
    """Give the project a remote, and a commit that the session's base has not."""
    project, bare = studio.project, studio.ground / "remote" / ".git"
    git(project, "init", "-q", "--bare", str(bare))
    forge.repository("o/r", bare)
    git(project, "remote", "add", "origin", "https://github.com/o/r.git")
    git(project, "config", f"url.{bare}.insteadOf", "https://github.com/o/r.git")
    (project / ".gitignore").write_text("*.env\n")
    (project / "local.env").write_text("SECRET=1\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Mine")
