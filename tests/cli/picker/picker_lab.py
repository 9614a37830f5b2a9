"""Make sessions on disk, and run only the picker: ``picker_lab.py PROJECT``."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from agentmux.app.session.search.lookup import list_resumable_sessions
from agentmux.cli.picker import screen as picker
from agentmux.core.journal.events import ORCHESTRATOR, Event, JournalCreated, SessionStarted
from agentmux.core.journal.state import Options, SessionState, encode
from agentmux.core.names.phase import Phase
from agentmux.wiring import build

AT = datetime(2026, 1, 1, 10, tzinfo=UTC)
SCREEN = (
    "\x1b[1;32mWelcome\x1b[0m to \x1b]0;title\x07the robot\n\n漢字 wide\n> \x1b[7m \x1b[0m\n\n\n"
)


def make_session(
    project: Path,
    name: str,
    *,
    phase: Phase = Phase.ARCHITECTING,
    feature: str = "",
    base: str | None = None,
) -> Path:
    """Make a session without an orchestrator: its state, its journal and one snapshot.

    ``base`` is the commit from which it began.
    """
    world = build.world(project, environ=os.environ)
    path = project / ".agentmux/.sessions" / name
    state = SessionState(
        phase=phase,
        session_id=world.new_id(),
        session_name=f"agentmux-{name}",
        feature=feature or name,
        feature_dir=f".agentmux/.sessions/{name}",
        max_review_iterations=3,
        options=Options(base=base),
    )
    facts = (JournalCreated(journal_id=world.new_id()), SessionStarted(state=encode(state)))
    events = tuple(
        Event(
            id=world.new_id(), at=AT.isoformat(), seat=ORCHESTRATOR, launch="", cycle=1, fact=fact
        )
        for fact in facts
    )
    world.files(path).make(events, {"requirements.md": name, "context.md": "rules"})
    (path / "snapshots").mkdir()
    screen = {
        "ansi": SCREEN,
        "cols": 80,
        "rows": 24,
        "seat": "architect",
        "captured_at": AT.isoformat(),
    }
    (path / "snapshots/architect.json").write_text(json.dumps(screen))
    return path


def main() -> int:
    """Run the picker, and print the picked session on stdout."""
    world = build.world(Path(sys.argv[1]), environ=os.environ)
    entries = list_resumable_sessions(world)
    picked = picker.select_session(world, entries, interactive=sys.stdin.isatty())
    print(picked and (picked.entry.name, picked.fresh))
    return 0


if __name__ == "__main__":
    sys.exit(main())
