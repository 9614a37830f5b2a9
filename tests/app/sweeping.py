"""Going on from images of the disk, as new processes would, and comparing what comes out."""

# Plain strings for speed: this code runs a hundred thousand times.
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.config.settings import SnapshotSettings, StallSettings
from agentmux.core.journal.events import Resumed
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from tests.app.driver import NotedRepository, Studio, git, make_project
from tests.app.invariants import Step, check_journal, phases
from tests.app.recording import Image, Recording, clone

SHARES = pytest.mark.parametrize(
    "share",
    [0, *(pytest.param(n, marks=pytest.mark.rare("CI kills at every third one")) for n in (1, 2))],
)
"""Runs a sweep three times, each with another third of its images: ``images[share::3]``."""


def begin(
    folder: Path,
    *,
    worktree: bool = False,
    checkpoints: bool = False,
    setup: tuple[SetupStep, ...] = (),
    verify: tuple[VerifyCommand, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> Studio:
    """Make a project with real git, and a short session in it that is still to be started."""
    project = make_project(folder / "ground" / "project" if worktree else folder / "project")
    return Studio(
        project, {**os.environ, **(environ or {})}, cycles=1, real_git=True, short=True,
        worktree=worktree, checkpoints=checkpoints, setup=setup, verify=verify,
    )  # fmt: skip


def begin_with_reminders(folder: Path) -> Studio:
    """Make a project, and a short session in it that is still to be started.

    Its git notes only. An agent that was woken, but not told before the kill, is reminded soon.
    """
    studio = Studio(make_project(folder / "project"), dict(os.environ), cycles=1, short=True)
    settings = replace(
        studio.world.settings,
        snapshots=SnapshotSettings(interval_s=0.05),
        stall=StallSettings(nudge_after_s=0.5, report_after_s=60.0),
    )
    studio.world = replace(studio.world, settings=settings)
    assert isinstance(studio.world.repository, NotedRepository)
    studio.world.repository.begin()
    return studio


def recorded(
    studio: Studio, folder: Path, patch: pytest.MonkeyPatch, *, first: str = "", end: str = ""
) -> Recording:
    """Drive the session to its end, after a start if it has none; return the recording of that.

    It has images since the event ``first`` and before the event ``end``; empty for any.
    """
    if not studio.session.exists():
        studio.start()
    store = folder / "images"
    store.mkdir()
    recording = Recording(studio, store, first=first, end=end)
    ended = recording.during(patch, lambda: studio.drive("start", deadline_s=20))
    assert ended is ExitCode.OK
    return recording


def gone_on(studio: Studio, image: Image, mode: str) -> Studio:
    """Replace the project by the image, and drive the session to its end."""
    shutil.rmtree(studio.ground)
    clone(str(image.folder), str(studio.ground))
    after, foreseen = studio.again(image.accepted), ""
    check_absent(after)
    done = steps_done(after)
    if mode == "reattach":
        assert image.session is not None
        after.reattach(image.session, image.panes)
    elif after.state().phase == Phase.DONE:
        return after  # the kill was after the end
    else:
        foreseen = after.resume()
    assert after.drive(mode) is ExitCode.OK
    assert not done.intersection(after.ran), "a command ran twice"
    if foreseen not in {"", Phase.DONE.value}:
        resumed = [e.fact for e, _ in after.events() if isinstance(e.fact, Resumed)]
        assert [fact.phase for fact in resumed] == [foreseen], (
            f"a dry run said something else: {foreseen}, {resumed}"
        )
    return after


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results that must be the same after any kill."""

    phases: tuple[tuple[int, int, str], ...]
    commits: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    artifacts: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    """Every file of the project and of the worktree, with its content."""
    delivered: str
    saved: str
    """The tree of the last checkpoint."""


def outcome(studio: Studio) -> Outcome:
    """Check the invariants, and return the results that must not differ."""
    return Outcome(
        phases=phases(check(studio)),
        commits=commits(studio),
        artifacts=tuple(sorted(artifacts(studio.session))),
        files=tuple(sorted(files(studio.ground))),
        delivered=delivered(studio) if studio.then else "",
        saved=saved(studio),
    )


def files(top: Path) -> Iterator[tuple[str, str]]:
    """Yield every file that is not git's or ours, with its content."""
    for folder, inside, names in os.walk(top):
        inside[:] = [name for name in inside if name not in {".git", layout.PROJECT_FOLDER}]
        for name in names:
            if name != ".git":
                path = Path(folder, name)
                yield str(path.relative_to(top)), path.read_text()


def saved(studio: Studio) -> str:
    """Return the tree of the last checkpoint; empty where there is none."""
    found = studio.state().tree_checkpoints
    if not found:
        return ""
    place = studio.session / layout.WORK_TREE / "objects"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(place))
        return git(studio.project, "rev-parse", f"{found[-1].commit}^{{tree}}")


def steps_done(studio: Studio) -> set[str]:
    """Return the steps of the setup that have succeeded in the worktree that is there."""
    done = set()
    if worktree(studio).exists():
        for path in studio.session.glob(f"{layout.LAUNCHES}/*/exit.json"):
            fields = json.loads(path.with_name("launch.json").read_text())
            if json.loads(path.read_text())["status"] == 0:
                done.add(fields["name"])
    return done


def artifacts(session: Path) -> Iterator[str]:
    """Yield the path of every file in the folders of phases and in the history."""
    for top in os.listdir(session):
        if top.startswith("0") or top == layout.HISTORY:
            for folder, _, names in os.walk(session / top):
                yield from (os.path.relpath(os.path.join(folder, name), session) for name in names)


def delivered(studio: Studio) -> str:
    """Return what the base and the remote have; check every byte in the user's checkout."""
    project, forge = studio.project, studio.ground / "forge" / ".git" / "forge.json"
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    refs = studio.ground / "remote" / ".git" / "refs"
    pushed = [path.name for path in refs.rglob("*") if path.is_file()]
    asked = json.loads(forge.read_text())["requests"] if forge.exists() else []
    requests = [f"#{each['number']} {each['title']}" for each in asked]
    merged = git(project, "log", "--first-parent", "--format=%T %s", "main")
    return f"{merged} {pushed} {requests}"


def commits(studio: Studio) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return message and files of every commit; check that one trailer names the approval."""
    approval = studio.state().approval
    trailer = f"Agentmux-Event: {approval}"
    repository = studio.world.repository
    if isinstance(repository, NotedRepository):
        assert repository.dirty() == ()
        found = repository.commits()
        assert [each["trailer"] for each in found[1:]] == [trailer]
        return tuple((each["message"], tuple(sorted(each["files"].items()))) for each in found)
    top = worktree(studio)
    logged = git(top, "log", "--reverse", "--format=%T%x00%B%x01").split("\x01\n")
    pairs = [tuple(each.split("\x00")) for each in logged if each]
    assert [number for number, pair in enumerate(pairs) if trailer in pair[1]] == [len(pairs) - 1]
    assert git(top, "status", "--porcelain") in {"", "?? made.txt\n"}
    return tuple((m.replace(trailer, "").strip(), (("", tree),)) for tree, m in pairs)


def worktree(studio: Studio) -> Path:
    """Return the directory in which the session works."""
    return Path(studio.state().worktree or studio.project)


def check(studio: Studio) -> tuple[Step, ...]:
    opened = Counter(studio.terminal.opened)
    assert not opened or opened.most_common(1)[0][1] == 1, "a launch was opened twice"
    return check_journal(studio.session, studio.accepted)


def check_absent(studio: Studio) -> None:
    """Check that no artifact counts that waits to be archived."""
    state = studio.state()
    gone = {path for each in state.pending_archive for path in each.paths}
    found = studio.world.files(studio.session).artifacts(state).sizes
    assert not [path for path in found if {path, path.partition("/")[0]} & gone]


def check_outcome(studio: Studio, image: Image, mode: str, wanted: Outcome) -> None:
    """Continue from the image; check that the outcome is the wanted one."""
    assert outcome(gone_on(studio, image, mode)) == wanted


def sweep(
    studio: Studio,
    wanted: Outcome,
    images: Iterable[Image],
    mode: str,
    check: Callable[[Studio, Image, str, Outcome], None] = check_outcome,
) -> None:
    """Check every image. Tell five failures."""
    wrong: list[str] = []
    for image in images:
        try:
            check(studio, image, mode, wanted)
        except Exception as error:  # noqa: BLE001 (all of them are collected)
            wrong.append(f"{mode}: {image.name}: {type(error).__name__}: {error}")
            if len(wrong) == 5:
                break
    assert not wrong, "\n".join(wrong)


def events_of(studio: Studio, image: Image) -> list[dict[str, Any]]:
    """Return the whole events in an image's journal, as in the file."""
    journal = image.folder / studio.session.relative_to(studio.ground) / layout.JOURNAL
    lines = [line for line in journal.read_bytes().split(b"\n") if line.endswith(b"}")]
    return [json.loads(line) for line in lines]


def journal_of(studio: Studio, image: Image) -> list[str]:
    """Return the kinds of the events in an image's journal."""
    return [each["event"] for each in events_of(studio, image)]


def since(studio: Studio, images: list[Image], event: str) -> list[Image]:
    """Return those images in whose journal this event is."""
    return [image for image in images if event in journal_of(studio, image)]
