"""What a lost state leaves open: whether the files that the last events imply were ever added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.fold.apply import advance, fold
from agentmux.core.fold.implied import Implied, implied
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    AgentNudged,
    AgentStalled,
    ArtifactsArchived,
    CommitDelayed,
    CommitFailed,
    CommitMade,
    CommitStarted,
    Event,
    Fact,
    JournalCreated,
    PhaseSettled,
    ResearchTold,
    Resumed,
    SessionFailed,
    SessionImported,
    SessionInterrupted,
    SessionReattached,
    SessionStarted,
)
from agentmux.core.journal.state import Archive, SessionState

# What nobody but the one who holds the session's lock appends.
_OWN: Final[tuple[type[Fact], ...]] = (
    JournalCreated, SessionStarted, SessionImported, AgentLaunched, AgentExited, AgentNudged,
    AgentStalled, ResearchTold, PhaseSettled, Resumed, SessionReattached, ArtifactsArchived,
    CommitStarted, CommitMade, CommitDelayed, CommitFailed, SessionInterrupted, SessionFailed,
)  # fmt: skip


def rebuild(
    state: SessionState, events: Sequence[tuple[Event, int]]
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Fold a whole journal over ``state``, and name the files that may never have been added.

    Who appends a line of its own has applied its line before that, and all that stands before it.
    So what stands behind the last such line but one is open; what it implies is returned as it
    lies after the moves on record. Older files are not: who took one away has meant it.
    """
    own = [i for i, (event, _) in enumerate(events) if isinstance(event.fact, _OWN)]
    proven = own[-2] + 1 if len(own) > 1 else 0
    state = fold(state, events[:proven])
    open_: dict[str, Implied] = {}
    for event, offset in events[proven:]:
        after = advance(state, event, offset)
        open_.update((each.path, each) for each in implied(state, event, after))
        if isinstance(event.fact, ArtifactsArchived):
            open_ = _moved(open_, state.pending_archive)
        state = after
    return state, tuple(open_.values())


def _moved(added: Mapping[str, Implied], archives: Iterable[Archive]) -> dict[str, Implied]:
    made = dict(added)
    for archive in archives:
        for path in [path for path in made if archive.takes(path)]:
            target = f"{archive.to}/{path}"
            made[target] = replace(made.pop(path), path=target)
    return made
