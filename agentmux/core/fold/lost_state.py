"""Rebuilds a lost ``state.json`` from the journal, and finds files that may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.fold.apply import advance, fold
from agentmux.core.fold.implied import derive_files
from agentmux.core.fold.implied_file import Implied
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
    SessionArrived,
    SessionFailed,
    SessionImported,
    SessionInterrupted,
    SessionMoved,
    SessionReattached,
    SessionReturned,
    SessionStarted,
    StepDone,
    StepFailed,
    StepStarted,
)
from agentmux.core.journal.state import ArchivedArtifacts, SessionState

# The facts that are only appended under the session's lock.
_OWN: Final[tuple[type[Fact], ...]] = (
    JournalCreated, SessionStarted, SessionImported, AgentLaunched, AgentExited, AgentNudged,
    AgentStalled, ResearchTold, PhaseSettled, Resumed, SessionReattached, ArtifactsArchived,
    CommitStarted, CommitMade, CommitDelayed, CommitFailed, StepStarted, StepDone, StepFailed,
    SessionInterrupted, SessionFailed, SessionMoved, SessionReturned, SessionArrived,
)  # fmt: skip


def rebuild(
    state: SessionState, events: Sequence[tuple[Event, int]]
) -> tuple[SessionState, tuple[Implied, ...]]:
    """Rebuild the state from a whole journal; return it, and the files that may be missing.

    The function itself writes nothing.

    Args:
        state: The state before the first event: a blank one, which the events fill.
        events: All events, each with the offset in the journal at which its line ends, in bytes.

    Returns:
        The state after all events, and the files that had to be written because of the last events;
        a crash may have prevented that. Files of earlier events are not among them: they were
        written before the last events were appended, so a missing one was removed on purpose. If a
        later event archived a file, its path is the one in the history.
    """
    own = [i for i, (event, _) in enumerate(events) if isinstance(event.fact, _OWN)]
    proven = own[-2] + 1 if len(own) > 1 else 0
    state = fold(state, events[:proven])
    open_: dict[str, Implied] = {}
    for event, offset in events[proven:]:
        after = advance(state, event, offset)
        open_.update((each.path, each) for each in derive_files(state, event, after))
        if isinstance(event.fact, ArtifactsArchived):
            open_ = _move_archived(open_, state.pending_archive)
        state = after
    return state, tuple(open_.values())


def _move_archived(
    added: Mapping[str, Implied], archives: Iterable[ArchivedArtifacts]
) -> dict[str, Implied]:
    artifacts = dict(added)
    for archive in archives:
        for path in [path for path in artifacts if archive.takes(path)]:
            target = f"{archive.to}/{path}"
            artifacts[target] = replace(artifacts.pop(path), path=target)
    return artifacts
