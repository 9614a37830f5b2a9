"""A session in a worktree, killed before and after each git command and durable write.

As in `tests.app.test_crash_sweep`, with real git and a short run: one sub-plan, one review. Swept
are the making of the worktree with its copies and its setup, its checkpoints, a rewind, and a
removal.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.commands.end.interrupted_removals import finish_removals
from agentmux.app.commands.end.remove import (
    remove_session,
    require_nothing_lost,
    worktree_to_remove,
)
from agentmux.app.commands.resume.rewind import rewind
from agentmux.app.session.search.lookup import entry_at, list_sessions
from agentmux.core.config.commands import SetupStep
from agentmux.core.names.layout import MAKING_PREFIX
from agentmux.errors import ExitCode
from tests.app.driver import Studio, git
from tests.app.recording import HALF, Image, Recording, clone, one_of_each
from tests.app.sweeping import (
    SHARES,
    begin,
    files,
    gone_on,
    journal_of,
    outcome,
    recorded,
    since,
    sweep,
    worktree,
)

pytestmark = pytest.mark.long

SETUP = (
    SetupStep(name="build", run=("sh", "-c", "echo made > made.txt")),
    SetupStep(name="configure", run=("sh", "-c", "cat local.env made.txt > all.env")),
)
COPIED = {
    ".gitignore": "*.env\n", ".worktreeinclude": "*.env\n",
    "local.env": "SECRET=1\n", "inner/deep.env": "SECRET=2\n",
}  # fmt: skip


@SHARES
def test_a_kill_of_the_making_of_a_worktree_changes_nothing_in_the_end(
    share: int, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, worktree=True, setup=SETUP)
    (studio.project / "inner").mkdir()
    for name, text in COPIED.items():
        (studio.project / name).write_text(text)
    git(studio.project, "add", ".gitignore", ".worktreeinclude")
    git(studio.project, "commit", "-qm", "Ignore")
    trusted = frozenset(part.key for part in studio.world.consent.trust.parts())
    studio.world = replace(studio.world, texts=studio.world.consent.allow(trusted).texts)
    made = recorded(studio, quick, monkeypatch, end="submit_architecture").images
    wanted = outcome(studio)
    top = worktree(studio)
    assert (top / "all.env").read_text() == "SECRET=1\nmade\n"
    assert "made.txt" not in git(top, "ls-files")
    images = one_of_each(made)
    assert {"git update-ref", "git worktree add"} < {i.after for i in images}
    assert len(images) >= 25  # processes overlap, so that a few states come and go
    sweep(studio, wanted, images[share::3], "resume")
    alive = [image for image in images if image.session is not None]
    sweep(studio, wanted, alive[3 * share :: 9], "reattach")
    deleted = one_of_each(made[::-1])[4 * share :: 12]
    for image in deleted:
        shutil.rmtree(image.folder / "project-worktrees", ignore_errors=True)
    sweep(studio, wanted, deleted, "resume")
    assert git(studio.project, "log", "--format=%s") == "Ignore\nBegin\n"
    listed = git(studio.project, "worktree", "list").splitlines()
    # The git directory of a folder that was deleted stays: the folder may be elsewhere.
    assert len([each for each in listed if "(moved or deleted)" not in each]) == 2


def test_a_kill_around_a_checkpoint_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of one, and with the worktree deleted after one."""
    studio = begin(quick, worktree=True, checkpoints=True)
    coded = recorded(studio, quick, monkeypatch, first="submit_done", end="approve").images
    wanted = outcome(studio)
    assert wanted.saved == git(worktree(studio), "rev-parse", "HEAD^{tree}")
    images = [image for image in one_of_each(coded) if is_of_checkpoint(image)]
    assert {"git update-index", "git write-tree", "git commit-tree"} < {i.after for i in images}
    sweep(studio, wanted, images, "resume")
    lost = one_of_each(saved(studio, coded))[::3]
    assert len(lost) > 3  # on a busy machine, processes overlap less
    for image in lost:
        shutil.rmtree(image.folder / "project-worktrees")
    sweep(studio, wanted, lost, "resume")


def is_of_checkpoint(image: Image) -> bool:
    in_it = image.after.startswith("git ") or "work-tree/" in image.after
    return in_it or "checkpoint_taken" in image.kind


def saved(studio: Studio, images: list[Image]) -> list[Image]:
    """Return the images in which a checkpoint has all code."""
    whole = [image for image in images if image.after != HALF]
    return [image for image in whole if is_saved(journal_of(studio, image))]


def is_saved(events: list[str]) -> bool:
    last = {event: place for place, event in enumerate(events)}
    return last["submit_done"] < last.get("checkpoint_taken", -1)


@pytest.mark.rare("CI kills around checkpoints")
def test_a_kill_of_a_rewind_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment in which the intent is recorded, every resume finishes the rewind."""
    studio = begin(quick, worktree=True, checkpoints=True)
    coded = recorded(studio, quick, monkeypatch, first="submit_done", end="approve").images
    image = saved(studio, coded)[-1]
    shutil.rmtree(studio.ground)
    clone(str(image.folder), str(studio.ground))
    stopped = studio.again(image.accepted)
    (worktree(stopped) / "stray.py").write_text("STRAY = 1\n")
    stopped._new_terminal()

    rewinding = Recording(stopped, quick / "images")
    entry = entry_at(stopped.world, stopped.session)
    rewinding.during(monkeypatch, lambda: rewind(stopped.world, entry, "planning"))
    begun = since(studio, rewinding.images, "rewind_started")
    assert {"git update-index", "git commit-tree"} < {image.after for image in begun}
    assert len(begun) < len(rewinding.images)
    wanted = outcome(gone_on(studio, begun[-1], "resume"))
    assert "stray.py" not in git(worktree(studio), "ls-files")
    images = one_of_each(begun)
    by_git = [image for image in images[1::2] if image.after.startswith("git ")]
    sweep(studio, wanted, images[::2] + by_git, "resume")


def test_a_removal_that_is_killed_is_finished_by_the_next_one(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, worktree=True)
    studio.then = "merge"
    (quick / "images").mkdir()
    studio.start()
    assert studio.drive("start") is ExitCode.OK
    studio._new_terminal()
    kept = files(studio.project)
    removing = Recording(studio, quick / "images")
    removing.during(monkeypatch, lambda: remove(studio))
    wanted = traces(studio)
    assert wanted == (dict(kept), [], f"{studio.project}", "refs/heads/main")
    images = one_of_each(removing.images)
    assert {"git update-ref", "git config --local"} < {image.after for image in images}
    for image in images:
        shutil.rmtree(studio.ground)
        clone(str(image.folder), str(studio.ground))
        finish_removals(studio.world)
        if list_sessions(studio.world):
            remove(studio)
        made, left, *rest = traces(studio)
        assert (made, *rest) == (wanted[0], *wanted[2:]), image.name
        ours = {".git", ".gitignore"}  # the next session there uses them, or `doctor` sweeps them
        assert {each for each in left if not each.startswith(MAKING_PREFIX)} <= ours


def remove(studio: Studio) -> None:
    """Remove the session, as `agentmux remove` does."""
    world, entry = studio.world, entry_at(studio.world, studio.session)
    spec = worktree_to_remove(world, entry)
    assert spec is not None

    def take_away() -> None:
        lost = require_nothing_lost(world, entry, spec, force=False)
        world.git.worktrees.remove(spec, lost.tip)

    remove_session(world, entry, take_away)


def traces(studio: Studio) -> tuple[dict[str, str], list[str], str, str]:
    """Return the files of the project, and what is left of the session."""
    folder = studio.session.parent
    sessions = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    trees = git(studio.project, "worktree", "list").split()[0::3]
    refs = git(studio.project, "for-each-ref", "--format=%(refname)")
    return dict(files(studio.ground / "project")), sessions, " ".join(trees), refs.strip()
