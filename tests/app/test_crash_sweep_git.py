"""What a session does with git, killed before and after each git command and durable write.

As in `tests.app.test_crash_sweep`, with real git and a short run: one sub-plan, one review.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agentmux.app.commands.rewind import rewind
from agentmux.app.session.lookup import entry_at
from tests.app.driver import Studio, git
from tests.app.recording import HALF, Image, Recording, clone, one_of_each
from tests.app.sweeping import (
    begin,
    delivered,
    gone_on,
    journal_of,
    outcome,
    recorded,
    sweep,
    worktree,
)


def since(studio: Studio, images: list[Image], event: str) -> list[Image]:
    """Return those images in whose journal this event is."""
    return [image for image in images if event in journal_of(studio, image)]


def before(studio: Studio, images: list[Image], event: str) -> list[Image]:
    """Return those images in whose journal this event is not."""
    return [image for image in images if event not in journal_of(studio, image)]


def test_a_kill_around_the_commit_leaves_one_commit(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick)
    recording = recorded(studio, quick, monkeypatch)
    images = one_of_each(since(studio, recording.images, "approve"))
    assert len(images) > 15
    wanted = outcome(studio)
    sweep(studio, wanted, images, "resume")
    sweep(studio, wanted, images[::2], "reattach")


def test_a_kill_of_a_session_in_a_worktree_of_its_own_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed around the making of the worktree and around the commit."""
    studio = begin(quick, worktree=True)
    recording = recorded(studio, quick, monkeypatch)
    wanted = outcome(studio)
    # All that is special to a worktree is done before the first agent.
    made = one_of_each(before(studio, recording.images, "agent_launched"))
    assert len(made) > 15
    sweep(studio, wanted, made, "resume")
    approved = one_of_each(since(studio, recording.images, "approve"))
    assert len(approved) > 15
    sweep(studio, wanted, approved, "resume")
    for image in made:
        shutil.rmtree(image.folder / "project-worktrees", ignore_errors=True)
    sweep(studio, wanted, made[::3], "resume")
    assert git(studio.project, "log", "--format=%s") == "Begin\n"
    assert git(studio.project, "worktree", "list").count("\n") == 2


def test_what_a_checkpoint_saved_outlives_the_worktree(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, worktree=True, checkpoints=True)
    recording = recorded(studio, quick, monkeypatch)
    images = one_of_each(saved(studio, recording.images))[::3]
    assert len(images) > 9
    for image in images:
        shutil.rmtree(image.folder / "project-worktrees")
    sweep(studio, outcome(studio), images, "resume")


def saved(studio: Studio, images: list[Image]) -> list[Image]:
    """Return the images in which a checkpoint has all code, and nothing is approved."""
    found = before(studio, since(studio, images, "submit_done"), "approve")
    whole = [image for image in found if image.after != HALF]
    return [image for image in whole if is_saved(journal_of(studio, image))]


def is_saved(events: list[str]) -> bool:
    last = {event: place for place, event in enumerate(events)}
    return last["submit_done"] < last.get("checkpoint_taken", -1)


@pytest.mark.parametrize(
    ("then", "checked_out"), [("merge", True), ("merge", False), ("push", True)]
)
def test_a_kill_around_a_delivery_changes_nothing_in_the_end(
    then: str, checked_out: bool, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, worktree=True)
    studio.then = then
    project = studio.project
    git(project, "init", "-q", "--bare", str(studio.ground / "remote" / ".git"))
    git(project, "remote", "add", "origin", str(studio.ground / "remote" / ".git"))
    (project / ".gitignore").write_text("*.env\n.agentmux/\n")
    (project / "local.env").write_text("SECRET=1\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Mine")  # so that the base has a commit of its own
    if not checked_out:
        git(project, "checkout", "-q", "-b", "elsewhere")
    (project / "mine.txt").write_text("not committed\n")
    recording = recorded(studio, quick, monkeypatch)
    assert ("Merge branch" in delivered(studio)) == (then == "merge")
    assert delivered(studio).endswith("['add-a-calculator']" if then == "push" else "[]")
    approved = one_of_each(since(studio, recording.images, "approve"))
    assert len(approved) > 15
    sweep(studio, outcome(studio), approved, "resume")


def test_a_kill_of_a_rewind_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment in which the intent is recorded, every resume finishes the rewind."""
    studio = begin(quick, worktree=True, checkpoints=True)
    image = saved(studio, recorded(studio, quick, monkeypatch).images)[-1]
    shutil.rmtree(studio.ground)
    clone(str(image.folder), str(studio.ground))
    stopped = studio.again(image.accepted)
    (worktree(stopped) / "stray.py").write_text("STRAY = 1\n")
    stopped._new_terminal()

    rewinding = Recording(stopped, quick / "images")
    entry = entry_at(stopped.world, stopped.session)
    rewinding.during(monkeypatch, lambda: rewind(stopped.world, entry, "planning"))
    begun = since(studio, rewinding.images, "rewind_started")
    assert 10 < len(begun) < len(rewinding.images)
    wanted = outcome(gone_on(studio, begun[-1], "resume"))
    assert "stray.py" not in git(studio.ground, "-C", str(worktree(studio)), "ls-files")
    sweep(studio, wanted, one_of_each(begun), "resume")
