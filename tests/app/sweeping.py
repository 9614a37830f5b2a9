"""Going on from images of the disk, as new processes would, and comparing what comes out."""

# Plain strings for speed: this code runs a hundred thousand times.
# ruff: noqa: PTH118, PTH208

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentmux.core.journal.events import Resumed
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from tests.app.driver import NotedRepository, Studio, git, make_project
from tests.app.invariants import Step, check_journal, phases
from tests.app.recording import Image, Recording, clone


def begin(folder: Path, *, worktree: bool = False, checkpoints: bool = False) -> Studio:
    """Start a short session on real git, which nobody has driven yet."""
    project = make_project(folder / "ground" / "project" if worktree else folder / "project")
    studio = Studio(
        project, dict(os.environ), cycles=1, real_git=True, short=True,
        worktree=worktree, checkpoints=checkpoints,
    )  # fmt: skip
    studio.start()
    return studio


def recorded(studio: Studio, folder: Path, patch: pytest.MonkeyPatch) -> Recording:
    """Drive the session to its end; return the recording."""
    store = folder / "images"
    store.mkdir()
    recording = Recording(studio, store)
    end = recording.during(patch, lambda: studio.drive("start", deadline_s=20))
    assert end is ExitCode.OK
    return recording


def gone_on(studio: Studio, image: Image, mode: str) -> Studio:
    """Replace the project by the image, and drive the session to its end."""
    shutil.rmtree(studio.ground)
    clone(str(image.folder), str(studio.ground))
    after, foreseen = studio.again(image.accepted), ""
    check_absent(after)
    if mode == "reattach":
        assert image.session is not None
        after.reattach(image.session, image.panes)
    elif after.state().phase is Phase.DONE:
        return after  # the kill was after the end
    else:
        foreseen = after.resume()
    assert after.drive(mode) is ExitCode.OK
    if foreseen not in {"", Phase.DONE.value}:
        resumed = [e.fact for e, _ in after.events() if isinstance(e.fact, Resumed)]
        assert [fact.phase for fact in resumed] == [foreseen], "a dry run said something else"
    return after


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results that must be the same after any kill."""

    phases: tuple[tuple[int, int, str], ...]
    commits: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    artifacts: tuple[str, ...]
    delivered: str


def outcome(studio: Studio) -> Outcome:
    """Check the invariants, and return the results that must not differ."""
    return Outcome(
        phases=phases(check(studio)),
        commits=commits(studio),
        artifacts=tuple(sorted(artifacts(studio.session))),
        delivered=delivered(studio) if studio.then else "",
    )


def artifacts(session: Path) -> Iterator[str]:
    """Yield the path of every file in the folders of phases and in the history."""
    for top in os.listdir(session):
        if top.startswith("0") or top == layout.HISTORY:
            for folder, _, names in os.walk(session / top):
                yield from (os.path.relpath(os.path.join(folder, name), session) for name in names)


def delivered(studio: Studio) -> str:
    """Return what the base and the remote have; check every byte in the user's checkout."""
    project = studio.project
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    assert (project / "mine.txt").read_text() == "not committed\n"
    assert (project / "local.env").read_text() == "SECRET=1\n"
    refs = studio.ground / "remote" / ".git" / "refs"
    pushed = [path.name for path in refs.rglob("*") if path.is_file()]
    return f"{git(project, 'log', '--first-parent', '--format=%T %s', 'main')} {pushed}"


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
    assert [trailer in message for _, message in pairs] == [False, True]
    assert git(top, "status", "--porcelain") == ""
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


def sweep(studio: Studio, wanted: Outcome, images: Iterable[Image], mode: str) -> None:
    """Continue from every image; check that the outcome is the wanted one. Tell five failures."""
    wrong: list[str] = []
    for image in images:
        try:
            assert outcome(gone_on(studio, image, mode)) == wanted
        except Exception as error:  # noqa: BLE001 (all of them are collected)
            wrong.append(f"{image.name}: {type(error).__name__}: {error}")
            if len(wrong) == 5:
                break
    assert not wrong, "\n".join(wrong)


def journal_of(studio: Studio, image: Image) -> list[str]:
    """Return the kinds of the events in an image's journal."""
    journal = image.folder / studio.session.relative_to(studio.ground) / layout.JOURNAL
    lines = [line for line in journal.read_bytes().split(b"\n") if line.endswith(b"}")]
    return [json.loads(line)["event"] for line in lines]
