"""Images of the disk: what a kill before each operation of a run would have left.

An operation is a call of `os` that changes a name or the journal, or a git command that may change
something. What a kill leaves depends on the operation before it, so each image is named after that.
"""

# Plain strings for speed: this code runs a hundred thousand times.
# ruff: noqa: PTH110, PTH112, PTH119

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agentmux.adapters.forge import command_line
from agentmux.adapters.git.program import GitProgram
from agentmux.core.names import layout
from agentmux.ports.tmux.terminal import TmuxSession
from tests.app.driver import SimPane, Studio
from tests.faults.operations import Operation, Operations

READS = {
    *("git config -z", "git diff", "git diff-index", "git diff-tree", "git status"),
    *("gh api", "gh issue view", "gh pr list", "gh pr view"),
}
"""Commands that are run like others, and that change nothing."""

T = TypeVar("T")

HALF = "half of a line"
"""After what an image is named whose journal ends in half of a line."""

_LINK, _MKDIR = os.link, os.mkdir  # the real ones, also while operations are recorded
_CHOSEN = re.compile(r"(launches/|taking-|agentmux-commit-)[^/]+|\d+")
_BY_EVENT = {layout.JOURNAL, layout.CURSOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """The disk between two operations, and what existed outside of it at that time."""

    folder: Path
    after: str
    before: str
    event: str
    """The last event in the journal, and where: kind, seat, topic and phase."""
    session: TmuxSession | None
    panes: tuple[SimPane, ...]
    accepted: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What tells this image from others: the operation; of git and the journal also when."""
        by_event = self.after.startswith(("git ", "gh ")) or self.after.split()[-1] in _BY_EVENT
        return f"{self.after} at {self.event}" if by_event else self.after

    @property
    def name(self) -> str:
        return f"killed after {self.after}, before {self.before}, at {self.event}"


def one_of_each(images: Iterable[Image]) -> list[Image]:
    """Return one image of each kind: of the first kind the first one, of the second the second."""
    kinds: dict[str, list[Image]] = {}
    for image in images:
        kinds.setdefault(image.kind, []).append(image)
    return [found[number % len(found)] for number, found in enumerate(kinds.values())]


def record(patch: pytest.MonkeyPatch, root: Path, before: Callable[[Operation], None]) -> None:
    """Call ``before`` for each operation below ``root``, and each command of git and of a forge.

    It is not called while such a command runs. When we are killed, git goes on and removes its lock
    files; the next orchestrator waits for that. Lock files stay on the disk only after a power
    loss, and the user has to remove them.
    """
    operations = Operations(root, before)
    operations.install(patch.setattr)

    def noted(real: Callable[..., T], name: Callable[..., str]) -> Callable[..., T]:
        def call(*arguments: object, **more: object) -> T:
            with operations.lock:
                before(Operation("run", name(*arguments)))
                return real(*arguments, **more)

        return call

    git = noted(GitProgram.run, lambda program, *argv: f"git {_command(argv)}")
    forge = noted(command_line._ran, lambda argv, *_: " ".join(("gh", *argv[1:3])))
    patch.setattr(GitProgram, "run", git)
    patch.setattr(command_line, "_ran", forge)


class Recording:
    """Keeps images of the disk while something changes it.

    Only those in whose journal the event ``first`` is, and ``end`` is not; empty for any.
    """

    def __init__(self, studio: Studio, store: Path, *, first: str = "", end: str = "") -> None:
        self._studio = studio
        self._store = store
        self._first, self._end = first, end
        self._after = "the start"
        self._torn = False
        self.images: list[Image] = []
        self.operations: Counter[str] = Counter()

    def during(self, patch: pytest.MonkeyPatch, deed: Callable[[], object]) -> object:
        """Do it, and return its result."""
        with patch.context() as context:
            record(context, self._studio.ground, self._before)
            return deed()

    def _before(self, operation: Operation) -> None:
        to_journal = operation.path.endswith(layout.JOURNAL)
        if operation.name in {"write", "fsync"} and not to_journal:
            return  # a temporary file, which nobody reads, or a flush, which a kill does not undo
        self.operations[operation.name] += 1
        name, wanted = self._name(operation), self._is_wanted()
        if self._after and wanted:
            self._keep(self._after, name)
        if self._torn and wanted:
            torn = self._keep(HALF, name)
            tear(torn / self._studio.session.relative_to(self._studio.ground) / layout.JOURNAL)
        self._after = name if changes(operation) else ""
        self._torn = to_journal and operation.name == "write"

    def _is_wanted(self) -> bool:
        if not self._first + self._end:
            return True
        journal = self._studio.session / layout.JOURNAL
        there = journal.read_bytes() if journal.exists() else b""
        begun = not self._first or f'"event":"{self._first}"'.encode() in there
        return begun and not (self._end and f'"event":"{self._end}"'.encode() in there)

    def _name(self, operation: Operation) -> str:
        if operation.name == "run":
            return operation.path
        place = os.path.relpath(operation.place, self._studio.session)
        return f"{operation.name} {_shortened(place)}"

    def _keep(self, after: str, before: str) -> Path:
        studio, terminal = self._studio, self._studio.terminal
        folder = self._store / f"{len(os.listdir(self._store)):04}"
        clone(str(studio.ground), str(folder))
        image = Image(
            folder=folder,
            after=after,
            before=before,
            event=self._event(),
            session=terminal.session,
            panes=tuple(replace(pane) for pane in terminal.found.values()),
            accepted=tuple(studio.accepted),
        )
        self.images.append(image)
        return folder

    def _event(self) -> str:
        session = self._studio.session
        if not os.path.exists(session / layout.STATE):
            return "the start"
        lines = (session / layout.JOURNAL).read_bytes().splitlines()
        last: dict[str, Any] = json.loads(lines[-1]) if lines else {"event": "the start"}
        phase = json.loads((session / layout.STATE).read_bytes())["phase"]
        topic = last.get("payload", {}).get("topic", "")
        what = (last["event"], last.get("seat", ""), topic, phase)
        return _shortened(" ".join(filter(None, what)))


def _shortened(name: str) -> str:
    """Return a name without what differs from run to run, or only counts."""
    return _CHOSEN.sub(r"\1*", name)


def _command(argv: tuple[str, ...]) -> str:
    """Return git's command, without the settings before it."""
    words = list(argv)
    while words[0] == "-c":
        del words[:2]
    return " ".join(words[: 2 if words[0] in {"config", "worktree"} else 1])


def changes(operation: Operation) -> bool:
    """Return whether the operation has a visible effect on the disk."""
    if operation.name == "run":
        return operation.path not in READS
    if operation.name == "mkdir":
        return not os.path.isdir(operation.path)
    if operation.name == "unlink":
        return os.path.lexists(operation.path)
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
                written = "/.git/" in entry.path and "/.git/objects/" not in entry.path
                shared = not written and entry.name != layout.JOURNAL
                known = copies.get(entry.inode())
                if shared or known:
                    _LINK(known or entry.path, name)
                else:
                    shutil.copy(entry.path, name)
                    copies[entry.inode()] = name
