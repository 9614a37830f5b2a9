"""No file of a session is written through a link."""

import json
import logging
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock, WorkTreeLock
from agentmux.adapters.disk.session import handover
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.adapters.wake import pipe
from agentmux.adapters.wake.pipe import WakeFifo
from agentmux.cli.fast import orchestrator
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import SessionInterrupted
from agentmux.core.journal.state import ArchivedArtifacts
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.names.turn import Turn
from agentmux.errors import AgentmuxError
from tests.adapters.pane.test_wrapper import argv
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk

Use = Callable[[OnDisk], object]
LAUNCH = "a1b2c3"
HELD = "not yours\n"


@pytest.fixture
def session(tmp_path: Path) -> OnDisk:
    made = OnDisk(tmp_path / "20260101-101500-x", Phase.PLANNING)
    made.commit()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / LAUNCH).mkdir(parents=True)
    for name in ("file", "review.md", f"{LAUNCH}/launch.json"):
        (folder / name).write_text(HELD)
    return folder


def tree(folder: Path) -> dict[str, object]:
    found = {path: path.lstat() for path in sorted(folder.rglob("*"))}
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", facts.st_mtime_ns)
        for path, facts in found.items()
    }


def log(session: OnDisk) -> None:
    orchestrator._log_to(session.files.path / layout.LOG)
    logging.getLogger("agentmux").error("a line")


def save(session: OnDisk) -> None:
    state = session.files.load().state
    session.files.save(replace(state, revision=state.revision + 1), after=None)
    session.files.save(replace(state, revision=state.revision + 2), after=None)


def lock(session: OnDisk) -> None:
    held = SessionLock(session.files.path)
    held.acquire(0, {"pid": 1})
    held.release()


def lock_tree(session: OnDisk) -> None:
    """Lock the work tree; outside of git, its lock is beside the sessions."""
    held = WorkTreeLock(session.files.path, session.files.path)
    held.acquire(0, {"pid": 1})
    held.release(keep_note=True)


def save_tree(session: OnDisk) -> None:
    """Save a work tree beside the session, as an orchestrator does at the end of a phase."""
    project = make_project(session.files.path.parent / "project")
    (project / "new.py").write_text("x\n")
    store = GitCheckpoints(GitProgram(project, dict(os.environ)), session.files.path, "u")
    store.take("a checkpoint", limit_s=20)


def launch(session: OnDisk) -> None:
    """Run a program under the wrapper, as its pane does."""
    fields: dict[str, object] = {
        "argv": ["true"],
        "cwd": "/",
        "claim": None,
        "grace_s": 0.3,
        "env": {},
        "unset": [],
    }
    with suppress(AgentmuxError):
        session.files.write(f"{layout.launch(LAUNCH)}/launch.json", json.dumps(fields))
    folder = session.files.path / layout.launch(LAUNCH)
    (folder / "launch.json").resolve().exists() and subprocess.run(
        argv(folder), check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=20
    )


FILES: list[tuple[str, Use]] = [
    (layout.JOURNAL, lambda on: on.files.append(on._event(SessionInterrupted(cause="x")))),
    (layout.STATE, save),
    (layout.STATE, lambda on: on.files.set_aside_corrupt_state(datetime.now(UTC))),
    (layout.STATE_BACKUP, save),
    (layout.CURSOR, save),
    (layout.RUNTIME, lambda on: on.files.write(layout.RUNTIME, "{}")),
    (layout.NOTIFIED, lambda on: on.files.write(layout.NOTIFIED, "{}")),
    (layout.LOCK, lock),
    (layout.LOCK_HOLDER, lock),
    (layout.TREE_LOCK, lock_tree),
    (layout.TREE_LOCK_HOLDER, lock_tree),
    (layout.COPIED, lambda on: on.files.write(layout.COPIED, "x")),
    (layout.WAKE, lambda on: WakeFifo(on.files.path).close()),
    (layout.WAKE, lambda on: pipe.poke(on.files.path)),
    (layout.LOG, log),
    (layout.REQUIREMENTS, lambda on: on.files.write(layout.REQUIREMENTS, "x")),
    (layout.CONTEXT, lambda on: on.files.write(layout.CONTEXT, "x")),
    (layout.snapshot("coder"), lambda on: on.files.write(layout.snapshot("coder"), "{}")),
    ("04_planning/plan.md", lambda on: on.files.add(Implied(path="04_planning/plan.md", text="x"))),
    (f"launches/{LAUNCH}/launch.json", launch),
    (f"launches/{LAUNCH}/started", launch),
    (f"launches/{LAUNCH}/started.tmp", launch),
    (f"launches/{LAUNCH}/exit.json", launch),
    (f"launches/{LAUNCH}/exit.json.tmp", launch),
    (layout.turn(LAUNCH), lambda on: on.files.note_turn(LAUNCH, Turn.ENDED)),
    ("ready-0.fifo", lambda on: handover.report(on.files.path / "ready-0.fifo", b"{}")),
]

FOLDERS: list[tuple[str, Use]] = [
    (layout.LAUNCHES, launch),
    (layout.launch(LAUNCH), launch),
    (layout.LAUNCHES, lambda on: on.files.note_turn(LAUNCH, Turn.ENDED)),
    (layout.launch(LAUNCH), lambda on: on.files.note_turn(LAUNCH, Turn.ENDED)),
    (layout.SNAPSHOTS, lambda on: on.files.write(layout.snapshot("coder"), "{}")),
    (layout.PIPELINE, lambda on: on.files.write(layout.frozen("0" * 64), "{}")),
    (layout.WORK_TREE, save_tree),
    (f"{layout.WORK_TREE}/objects", save_tree),
    (layout.CHECKPOINTS, lambda on: on.files.make_folder(layout.checkpoint("coder"))),
    (layout.checkpoint("coder"), lambda on: on.files.make_folder(layout.checkpoint("coder"))),
    ("04_planning", lambda on: on.files.add(Implied(path="04_planning/plan.md", text="x"))),
    ("04_planning", lambda on: on.files.make_folder("04_planning")),
    ("03_research", lambda on: on.files.write("03_research/code-a/prompt.md", "x")),
    (layout.HISTORY, lambda on: on.files.add(Implied(path="history/1.0/changes.md", text="x"))),
    (layout.HISTORY, lambda on: on.files.archive(archive("context.md"))),
    ("history/1.0", lambda on: on.files.archive(archive("context.md"))),
    ("07_review", lambda on: on.files.archive(archive("07_review/review.md"))),
    ("07_review", lambda on: on.files.archive(archive("07_review"))),
]


def archive(path: str) -> ArchivedArtifacts:
    return ArchivedArtifacts(to="history/1.0", paths=(path,))


def link(session: OnDisk, name: str, target: Path) -> Path:
    place = session.files.path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    return place


def attempt(session: OnDisk, use: Use) -> str:
    """Call ``use``; return the message of its refusal, or an empty text if there was none."""
    try:
        use(session)
    except AgentmuxError as error:
        return error.message
    finally:
        logging.getLogger("agentmux").handlers.clear()
        logging.getLogger("agentmux").propagate = True
    return ""


@pytest.mark.parametrize(("name", "use"), FILES, ids=[name for name, _ in FILES])
@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
def test_a_file_that_is_a_link_is_not_written_through(
    session: OnDisk, outside: Path, name: str, use: Use, *, there: bool
) -> None:
    session.leave("context.md", "x")
    target = outside / ("file" if there else "new")
    link(session, name, target)
    before = tree(outside)
    attempt(session, use)
    assert tree(outside) == before


@pytest.mark.parametrize(("name", "use"), FOLDERS, ids=[name for name, _ in FOLDERS])
def test_a_folder_that_is_a_link_is_not_written_through(
    session: OnDisk, outside: Path, name: str, use: Use
) -> None:
    session.leave("context.md", "x")
    place = link(session, name, outside)
    before = tree(outside)
    said = attempt(session, use)
    assert tree(outside) == before
    # A refusal names the link; a hook, the wrapper and a move skip it without an error.
    assert not said or (f"`{place}` is a link" in said)


def test_every_file_that_a_session_has_is_among_these() -> None:
    names = {
        value
        for key, value in vars(layout).items()
        if key.isupper() and key[0] != "_" and isinstance(value, str)
    }
    tried = {name.split("/")[0] for name, _ in (*FILES, *FOLDERS)}
    phases = {name for name in names if name[:1] == "0"}
    projects = {
        layout.PROJECT_FOLDER,
        layout.PROJECT_CONFIG,
        layout.SESSIONS_DIR,
        layout.MAKING_PREFIX,
    }
    once = {layout.HANDOVER}  # an import writes it into the folder that it has just made
    own = names - phases - projects - once - {layout.FALLBACK_SLUG}
    assert own <= tried
    assert os.path.sep not in "".join(own)
