"""A pipeline that is killed at any durable operation ends with the same result.

One run is recorded: the disk is copied before each operation that changes a name or the journal,
which is what a kill at that moment would leave. Then new objects, as in a new process, continue
from each copy: on a new tmux server (everything was killed), or with the panes that are still
alive (only the orchestrator was killed). The recorded run has research, a parallel group, a failed
review with its fix, and a second cycle.
"""

# Plain strings for speed: this code runs a hundred thousand times.
# ruff: noqa: PTH112, PTH118, PTH119, PTH208

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from agentmux.app.commands.rewind import rewind
from agentmux.app.session.lookup import entry_at, list_sessions
from agentmux.app.session.own_worktree import placed
from agentmux.core.journal.events import Resumed
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from agentmux.ports.checkpoints import TreeCheckpoints
from agentmux.ports.merging import Merging
from agentmux.ports.remotes import Remotes
from agentmux.ports.repository import Repository
from agentmux.ports.terminal import TmuxSession
from tests.app.driver import MESSAGE, NotedRepository, SimPane, Studio, git, make_project
from tests.app.invariants import Step, check_journal, phases
from tests.faults.operations import Operation, Operations

SWEEPS = [("resume", 0, 2), ("resume", 1, 2), ("reattach", 0, 3)]
"""Mode, number of the share, and how many shares there are.

A resume is tested at every operation. A reattach, which runs the same code, at every third.
"""
_LINK, _MKDIR = os.link, os.mkdir  # the real ones, also while operations are recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """The disk before an operation, and what existed outside of it at that time."""

    folder: Path
    before: str
    session: TmuxSession
    panes: tuple[SimPane, ...]
    accepted: tuple[str, ...]


class Undisturbed:
    """A part of git's adapter that keeps images from being taken while git works.

    When we are killed, git goes on and removes its lock files; the next orchestrator waits for
    that. Lock files stay on the disk only after a power loss, and the user has to remove them.
    """

    def __init__(self, repository: object, lock: AbstractContextManager[object]) -> None:
        self._repository = repository
        self._lock = lock

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._repository, name)

        def call(*arguments: object, **options: object) -> object:
            with self._lock:
                return method(*arguments, **options)

        return call


class Recording:
    """Runs a pipeline to its end, and keeps images of the disk before operations that change it.

    Keeps every ``shards``-th of the differing images, from number ``shard`` on.
    """

    def __init__(self, studio: Studio, store: Path, *, shard: int = 0, shards: int = 1) -> None:
        self._studio = studio
        self._store = store
        self._shard, self._shards = shard, shards
        self._count = 0
        self._changed = True
        self._torn = False
        self.images: list[Image] = []
        self.operations: Counter[str] = Counter()

    def run(self, patch: pytest.MonkeyPatch) -> None:
        studio, operations = self._studio, Operations(self._studio.ground, self._before)
        world = studio.world

        def undisturbed(repository: Repository) -> Repository:
            return cast("Repository", Undisturbed(repository, operations.lock))

        with patch.context() as context:
            operations.install(context.setattr)
            watched = replace(
                world,
                repository=undisturbed(world.repository),
                repository_at=lambda folder: undisturbed(world.repository_at(folder)),
                checkpoints=lambda *of: cast(
                    "TreeCheckpoints", Undisturbed(world.checkpoints(*of), operations.lock)
                ),
                merging=lambda environ: cast(
                    "Merging", Undisturbed(world.merging(environ), operations.lock)
                ),
                remotes=lambda folder, environ: cast(
                    "Remotes", Undisturbed(world.remotes(folder, environ), operations.lock)
                ),
            )
            context.setattr(studio, "world", watched)
            assert studio.drive("start", deadline_s=20) is ExitCode.OK

    def _before(self, operation: Operation) -> None:
        to_journal = operation.path.endswith(layout.JOURNAL)
        if operation.name in {"write", "fsync"} and not to_journal:
            return  # a temporary file, which nobody reads, or a flush, which a kill does not undo
        self.operations[operation.name] += 1
        if self._changed:
            self._keep(operation, torn=False)
        if self._torn:
            self._keep(operation, torn=True)
        self._changed = changes(operation)
        self._torn = to_journal and operation.name == "write"

    def _keep(self, operation: Operation, *, torn: bool) -> None:
        self._count += 1
        studio, session = self._studio, self._studio.terminal.session
        if self._count % self._shards != self._shard or session is None:
            return
        folder = self._store / f"{self._count:04}"
        clone(str(studio.ground), str(folder))
        if torn:
            tear(folder / studio.session.relative_to(studio.ground) / layout.JOURNAL)
        name = f"{operation.name} {os.path.relpath(operation.place, studio.session)}"
        self.images.append(
            Image(
                folder=folder,
                before=f"half of a line, {name}" if torn else name,
                session=session,
                panes=tuple(replace(pane) for pane in studio.terminal.found.values()),
                accepted=tuple(studio.accepted),
            )
        )


def changes(operation: Operation) -> bool:
    """Return whether the operation has a visible effect on the disk."""
    if operation.name == "mkdir":
        return not os.path.isdir(operation.path)
    return operation.name != "fsync" and not is_temporary(operation.place)


def is_temporary(path: str) -> bool:
    return os.path.basename(path).startswith(".tmp-")


def tear(journal: Path) -> None:
    """Cut the last line in half."""
    data = journal.read_bytes()
    start = data.rstrip(b"\n").rfind(b"\n") + 1
    journal.write_bytes(data[: (start + len(data)) // 2])


def clone(source: str, target: str, copies: dict[int, str] | None = None) -> None:
    """Copy a tree without its pipes; a file that is never written in place is a hard link.

    Two names of one file become two names of its copy, by which git's lock is known as ours.
    """
    copies = {} if copies is None else copies
    _MKDIR(target)
    with os.scandir(source) as entries:
        for entry in entries:
            name = f"{target}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                clone(entry.path, name, copies)
            elif entry.is_file(follow_symlinks=False):
                shared = "/.git/" not in entry.path and entry.name != layout.JOURNAL
                known = copies.get(entry.inode())
                if shared or known:
                    _LINK(known or entry.path, name)
                else:
                    shutil.copyfile(entry.path, name)
                    copies[entry.inode()] = name


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder, in memory if possible; flushing does nothing, since no power is lost here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    yield folder
    shutil.rmtree(folder)


def begin(folder: Path, *, real_git: bool, worktree: bool = False) -> Studio:
    project = make_project(folder / "ground" / "project" if worktree else folder / "project")
    cycles = 1 if worktree else 2
    environ = dict(os.environ)
    studio = Studio(project, environ, real_git=real_git, worktree=worktree, cycles=cycles)
    if isinstance(studio.world.repository, NotedRepository):
        studio.world.repository.begin()
    studio.start()
    return studio


def gone_on(studio: Studio, image: Image, mode: str) -> Studio:
    """Replace the project by the image, and drive the session to its end."""
    shutil.rmtree(studio.ground)
    image.folder.rename(studio.ground)
    after, foreseen = studio.again(image.accepted), ""
    check_absent(after)
    if mode == "resume" and after.state().phase is Phase.DONE:
        return after  # the kill was after the end
    if mode == "resume":
        foreseen = after.resume()
    else:
        after.reattach(image.session, image.panes)
    assert after.drive(mode) is ExitCode.OK
    if foreseen not in {"", Phase.DONE.value}:
        resumed = [e.fact for e, _ in after.events() if isinstance(e.fact, Resumed)]
        assert [fact.phase for fact in resumed] == [foreseen], "a dry run said something else"
    return after


# -- invariants ----------------------------------------------------------------------------------


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
    remote = git(project, "ls-remote", "origin").split()
    return f"{git(project, 'log', '--format=%T %s', 'main')} {len(remote)}"


def commits(studio: Studio) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return message and files of every commit; check that one trailer names the approval."""
    approval = studio.state().approval
    trailer = f"Agentmux-Event: {approval}"
    repository = placed(studio.world, studio.state()).repository
    assert repository.dirty() == ()
    if isinstance(repository, NotedRepository):
        found = repository.commits()
        assert [each["trailer"] for each in found[1:]] == [trailer]
        return tuple((each["message"], tuple(sorted(each["files"].items()))) for each in found)
    top = Path(studio.state().worktree or studio.project)
    logged = git(top, "log", "--reverse", "--format=%T%x00%B%x01").split("\x01\n")
    pairs = [tuple(each.split("\x00")) for each in logged if each]
    assert [trailer in message for _, message in pairs] == [False, True]
    assert git(top, "status", "--porcelain") == ""
    return tuple((m.replace(trailer, "").strip(), (("", tree),)) for tree, m in pairs)


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


def sweep(studio: Studio, recording: Recording, images: list[Image], mode: str) -> list[str]:
    """Continue from every image; return the first five failures."""
    wanted = outcome(studio)
    wrong: list[str] = []
    for image in images:
        try:
            after = gone_on(studio, image, mode)
            assert outcome(after) == wanted
        except Exception as error:  # noqa: BLE001 (all of them are collected)
            wrong.append(f"killed before {image.before}: {type(error).__name__}: {error}")
            if len(wrong) == 5:
                break
    return wrong


# -- the sweeps ----------------------------------------------------------------------------------


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("mode", "shard", "shards"), SWEEPS)
def test_a_kill_at_any_operation_changes_nothing_in_the_end(
    mode: str, shard: int, shards: int, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, real_git=False)
    recording = Recording(studio, quick, shard=shard, shards=shards)
    recording.run(monkeypatch)
    assert {"replace", "rename", "mkdir", "link", "write"} <= set(recording.operations)
    assert len(recording.images) > 400 // shards
    assert commits(studio)[-1][0] == MESSAGE
    wrong = sweep(studio, recording, recording.images, mode)
    assert not wrong, "\n".join(wrong)


@pytest.mark.timeout(180)
def test_a_kill_and_the_loss_of_the_state_change_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, real_git=False)
    recording = Recording(studio, quick, shard=1, shards=7)  # not a period of commits
    recording.run(monkeypatch)
    assert len(recording.images) > 400 // 7
    for image in recording.images:
        for name in (layout.STATE, layout.STATE_BACKUP):
            path = image.folder / studio.session.relative_to(studio.project) / name
            path.unlink(missing_ok=True)
    wrong = sweep(studio, recording, recording.images, "resume")
    assert not wrong, "\n".join(wrong)


def test_a_start_that_is_killed_leaves_a_whole_session_or_none(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = Studio(make_project(quick / "project"), dict(os.environ))
    assert isinstance(studio.world.repository, NotedRepository)
    studio.world.repository.begin()
    disks: list[tuple[Path, Operation]] = []

    def keep(operation: Operation) -> None:
        disks.append((quick / f"{len(disks):03}", operation))
        clone(str(studio.project), str(disks[-1][0]))

    with monkeypatch.context() as context:
        Operations(studio.project, keep).install(context.setattr)
        studio.start()
    whole = began(studio)
    assert len(disks) > 20

    seen = set()
    for disk, operation in disks:
        shutil.rmtree(studio.project)
        disk.rename(studio.project)
        after = studio.again(())
        found = list_sessions(after.world)
        assert [entry.problem for entry in found] in ([], [None]), operation
        if found:
            after.session = found[0].path
            assert after.resume() == "architecting", operation
        else:
            after.start()
        assert began(after) == whole, operation
        seen.add(len(found))
    assert seen == {0, 1}


def began(studio: Studio) -> tuple[str, str, list[str]]:
    """Return what a session contains before its orchestrator has done anything."""
    state = studio.state()
    text = (studio.session / layout.REQUIREMENTS).read_text()
    return state.phase.value, text, [event.fact.kind for event, _ in studio.events()]


@pytest.mark.parametrize("mode", ["resume", "reattach"])
def test_a_kill_around_the_commit_leaves_one_commit(
    mode: str, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, real_git=True)
    recording = Recording(studio, quick)
    recording.run(monkeypatch)
    approved = [image for image in recording.images if is_approved(studio, image)]
    assert len(approved) > 15
    wrong = sweep(studio, recording, approved, mode)
    assert not wrong, "\n".join(wrong)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("mode", ["resume", "deleted", "lost"])
def test_a_kill_of_a_session_in_a_worktree_of_its_own_changes_nothing_in_the_end(
    mode: str, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed around the making of the worktree and around the commit, with real git."""
    studio = begin(quick, real_git=True, worktree=True)
    recording = Recording(studio, quick)
    recording.run(monkeypatch)
    # All that is special to a worktree is done before the first agent; later, some are enough.
    early = [image for image in recording.images if is_early(studio, image)]
    begins = sum(not has(studio, image, "agent_launched") for image in early)
    images = early[:begins] + early[begins::8]
    if mode == "lost":
        images = [image for image in recording.images if is_saved(studio, image)][::3]
    if mode in {"deleted", "lost"}:
        # The worktree was deleted, too: before anything was done in it, or after it was saved.
        for image in images:
            shutil.rmtree(image.folder / "project-worktrees", ignore_errors=True)
    else:
        images += [image for image in recording.images if is_approved(studio, image)]
    assert len(images) > 10
    wrong = sweep(studio, recording, images, "resume")
    assert not wrong, "\n".join(wrong)
    assert git(studio.project, "log", "--format=%s") == "Begin\n"
    assert git(studio.project, "worktree", "list").count("\n") == 2


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("then", "checked_out"), [("merge", True), ("merge", False), ("push", True)]
)
def test_a_kill_around_a_delivery_changes_nothing_in_the_end(
    then: str, checked_out: bool, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, real_git=True, worktree=True)
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
    recording = Recording(studio, quick)
    recording.run(monkeypatch)
    assert ("Merge branch" in delivered(studio)) == (then == "merge")
    assert delivered(studio).endswith(f" {2 if then == 'push' else 0}")
    approved = [image for image in recording.images if is_approved(studio, image)]
    assert len(approved) > 15
    wrong = sweep(studio, recording, approved, "resume")
    assert not wrong, "\n".join(wrong)


def is_early(studio: Studio, image: Image) -> bool:
    """Whether nobody has written code yet."""
    place = image.folder / "project-worktrees"
    return not list(place.glob("*/*.py")) and not is_approved(studio, image)


def is_saved(studio: Studio, image: Image) -> bool:
    """Whether a checkpoint has all code that was handed in."""
    if is_approved(studio, image) or is_early(studio, image):
        return False
    journal = image.folder / studio.session.relative_to(studio.ground) / layout.JOURNAL
    lines = [line for line in journal.read_bytes().split(b"\n") if line.endswith(b"}")]
    kinds = [json.loads(line)["event"] for line in lines]
    last = {kind: place for place, kind in enumerate(kinds)}
    return last.get("submit_done", 0) < last.get("checkpoint_taken", -1)


def is_approved(studio: Studio, image: Image) -> bool:
    return has(studio, image, "approve")


def has(studio: Studio, image: Image, kind: str) -> bool:
    """Whether the journal has an event of this kind."""
    journal = image.folder / studio.session.relative_to(studio.ground) / layout.JOURNAL
    return f'"event":"{kind}"'.encode() in journal.read_bytes()


@pytest.mark.timeout(180)
def test_a_kill_of_a_rewind_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment in which the intent is recorded, every resume finishes the rewind."""
    studio = begin(quick, real_git=True, worktree=True)
    recording = Recording(studio, quick)
    recording.run(monkeypatch)
    image = [each for each in recording.images if is_saved(studio, each)][-1]
    shutil.rmtree(studio.ground)
    clone(str(image.folder), str(studio.ground))
    stopped = studio.again(image.accepted)
    (Path(stopped.state().worktree or "") / "stray.py").write_text("STRAY = 1\n")
    stopped._new_terminal()

    images: list[Image] = []

    def keep(operation: Operation) -> None:
        folder = quick / f"rewind-{len(images):03}"
        clone(str(studio.ground), str(folder))
        images.append(replace(image, folder=folder, before=operation.name))

    world = stopped.world
    operations = Operations(studio.ground, keep)
    watched = replace(
        world,
        checkpoints=lambda *of: cast(
            "TreeCheckpoints", Undisturbed(world.checkpoints(*of), operations.lock)
        ),
    )
    with monkeypatch.context() as context:
        operations.install(context.setattr)
        rewind(watched, entry_at(world, stopped.session), "planning")
    whole = replace(image, folder=quick / "rewound")
    clone(str(studio.ground), str(whole.folder))
    begun = [each for each in images if b"rewind_started" in journal_of(studio, each)]
    assert 10 < len(begun) < len(images)

    wanted = outcome(gone_on(studio, whole, "resume"))
    assert "stray.py" not in git(studio.ground, "-C", str(worktree_at(studio)), "ls-files")
    wrong: list[str] = []
    for each in begun[::3]:
        try:
            assert outcome(gone_on(studio, each, "resume")) == wanted
        except Exception as error:  # noqa: BLE001 (all of them are collected)
            wrong.append(f"killed before {each.before}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong[:5])


def worktree_at(studio: Studio) -> Path:
    return Path(studio.state().worktree or "")


def journal_of(studio: Studio, image: Image) -> bytes:
    return (image.folder / studio.session.relative_to(studio.ground) / layout.JOURNAL).read_bytes()
