"""A session of real files, built from journal lines."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.core.fold.apply import fold
from agentmux.core.journal.events import (
    ORCHESTRATOR,
    AgentLaunched,
    Event,
    Fact,
    JournalCreated,
    SessionStarted,
    encode,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.journal.state import encode as encode_state
from agentmux.core.names.phase import CODER, Phase
from tests.core.builders import state_of

SESSION_ID = "6f2d1c1e-0000-4000-8000-000000000001"
AT = "2026-01-01T10:15:00.000Z"


class OnDisk:
    """A session directory with a committed state, and the facts that were added by ``tell``."""

    def __init__(self, path: Path, phase: str = Phase.ARCHITECTING, **values: Any) -> None:
        path.mkdir(parents=True)
        self.path = path
        self.files = FileSession(path)
        self._numbers = itertools.count(1)
        began = state_of(phase, **{"session_id": SESSION_ID, **values})
        first = (JournalCreated(journal_id="j"), SessionStarted(state=encode_state(began)))
        self.files.journal.create(*(encode(self._event(fact)) for fact in first))
        self.commit()

    def _event(self, fact: Fact, seat: str = ORCHESTRATOR, launch: str = "") -> Event:
        number = next(self._numbers)
        return Event(id=f"e{number}", at=AT, seat=seat, launch=launch, cycle=1, fact=fact)

    def tell(self, fact: Fact, seat: str = ORCHESTRATOR, launch: str = "") -> None:
        self.files.append(self._event(fact, seat, launch))

    def launch(self, seat: str, role: str = "", launch: str = "", **values: Any) -> dict[str, str]:
        """Record a launch; return the environment of its pane."""
        role = role or (CODER if seat.startswith(CODER) else seat)
        launch = launch or f"launch-{seat}"
        record = values.pop("record", {})
        fact = AgentLaunched(role=role, record=record, mode="fresh", reason="first", **values)
        self.tell(fact, seat, launch)
        return {
            **{name: value for name, value in os.environ.items() if "AGENTMUX_" not in name},
            "AGENTMUX_SESSION_DIR": str(self.path),
            "AGENTMUX_SESSION_ID": SESSION_ID,
            "AGENTMUX_LAUNCH_ID": launch,
            "AGENTMUX_ROLE": role,
            "AGENTMUX_SEAT": seat,
            "AGENTMUX_CYCLE": "1",
            "AGENTMUX_ITERATION": "0",
            "AGENTMUX_SUBPLAN": str(values.get("subplan") or ""),
            "AGENTMUX_TOPIC": values.get("topic", ""),
        }

    def leave(self, path: str, content: object) -> None:
        """Write an artifact; a value that is not text or bytes becomes JSON, which is YAML."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content if isinstance(content, str) else json.dumps(content))

    def commit(self) -> None:
        """Save the state that the journal folds to, as the orchestrator does."""
        loaded = self.files.load()
        self.files.save(fold(loaded.state, loaded.tail), after=None)

    @property
    def state(self) -> SessionState:
        loaded = self.files.load()
        return fold(loaded.state, loaded.tail)

    @property
    def events(self) -> list[Event]:
        return [event for event, _ in self.files.tail(0)]

    @property
    def kinds(self) -> list[str]:
        return [event.fact.kind for event in self.events]


def implementing(path: Path, count: int, *, single: bool = False, mode: str = "parallel") -> OnDisk:
    """Return a session that is implementing ``count`` sub-plans, all of them active."""
    plans = [{"index": i, "name": f"p{i}", "file": f"plan_{i}.md"} for i in range(1, count + 1)]
    return OnDisk(
        path,
        Phase.IMPLEMENTING,
        subplan_count=count,
        implementation_groups=({"group_id": "g1", "mode": mode, "plans": plans},),
        implementation_group_total=1,
        implementation_group_index=1,
        implementation_group_mode=mode,
        implementation_active_plan_ids=tuple(range(1, count + 1)),
        implementation_single_coder=single,
    )
