"""The only writer of a session: records facts, applies them to the state, and saves the state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import to_fields
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.decisions.inference import Inference, infer
from agentmux.core.fold.acceptance import is_judged
from agentmux.core.fold.apply import advance, has_counted
from agentmux.core.fold.implied import derive_files
from agentmux.core.fold.loaded_session import LoadedSession
from agentmux.core.journal.events import (
    ORCHESTRATOR,
    Event,
    Fact,
    JournalCreated,
    SessionImported,
)
from agentmux.core.journal.failures import shorten_failure
from agentmux.core.journal.state import SessionState, encode
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.on_disk import state_from_disk
from agentmux.core.pipeline.results import with_found
from agentmux.errors import AgentmuxError, DataError
from agentmux.ports.session.session_files import SessionFiles
from agentmux.threads import work_label

logger = logging.getLogger(__name__)


def stamp(now: datetime) -> str:
    """Return ``now``, a time in UTC, as the journal writes it: ISO 8601, milliseconds, ``Z``.

    Another time zone is not converted.
    """
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def _no_texts(_state: SessionState) -> Mapping[str, str]:
    return {}


def _ignore_event(_event: Event) -> None:
    """Do nothing; the default until somebody listens."""


def _log_warning(warning: str) -> None:
    logger.warning("%s", warning)


class Session:
    """The state of a session, and the files that it is read from and saved to.

    Attributes:
        files: The session's directory.
        now: Returns the current time, aware UTC.
        new_id: Returns a new uuid, as text.
        state: The last saved state.
        warnings: What was wrong with the files when they were first read, one sentence each.
        tell: Called with each later warning about the files; logs it unless replaced.
        notice: Called with each signal or user decision that counts, after it was applied to
            ``state``; does nothing unless replaced.
    """

    def __init__(
        self, files: SessionFiles, *, now: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self.files = files
        self.now = now
        self.new_id = new_id
        loaded = files.load()
        self.state = loaded.state
        self.warnings = loaded.warnings
        self._loaded = loaded
        self._pending = len(loaded.tail)
        self.tell: Callable[[str], None] = _log_warning
        self.notice: Callable[[Event], None] = _ignore_event

    @property
    def work_label(self) -> str:
        """The label that marks the programs run for this session; see `WorkGroup`."""
        return work_label(self.state.session_id, self.files.path.resolve())

    @property
    def initial_load(self) -> LoadedSession:
        """The session as it was loaded when this object was created."""
        return self._loaded

    def take_over(
        self,
        *,
        session_id: str = "",
        session_name: str = "",
        texts: Callable[[SessionState], Mapping[str, str]] = _no_texts,
    ) -> None:
        """Prepare to drive the session: apply pending events and save the state; launches nothing.

        The caller holds the session's lock. Files that killed writers left half-written are
        removed. Only this method converts a session of an older version to the current format.
        The arguments are for an older session without a journal of AgentMux.

        Args:
            session_id: The uuid that the session gets if it has none; empty makes a new one.
            session_name: The name that its tmux session gets if it has none.
            texts: Takes the state; returns files to write unless they exist: content by path in the
                session's directory.
        """
        self.files.sweep()
        if self._loaded.source != "state.json":
            self.files.set_aside_corrupt_state(self.now())
        for each in self._loaded.implied_files:
            self.files.add(each)
        if self._loaded.needs_import:
            self._import(session_id, session_name, texts)
        elif self._loaded.older:
            self._write_in_form()
        elif self._loaded.source != "state.json":
            self.files.save(self.state, after=None)
        self._pending = max(self._pending, len(self.catch_up()))

    def infer(self) -> Inference:
        """Return the phase in which the session resumes, with the evidence.

        Call `take_over` first. Nothing is recorded.
        """
        return infer(
            self.state,
            self.artifacts(),
            state_is_known=self._loaded.known,
            pending=self._pending,
        )

    def _import(
        self,
        session_id: str,
        session_name: str,
        texts: Callable[[SessionState], Mapping[str, str]],
    ) -> None:
        self._apply(self._loaded.tail)
        journal = self.new_id()
        taken = replace(
            self.state,
            session_id=self.state.session_id or session_id or self.new_id(),
            session_name=self.state.session_name or session_name,
            updated_by=ORCHESTRATOR,
        )
        if not self._loaded.known:
            taken = with_found(taken, self.artifacts().results)
        for path, text in texts(taken).items():
            if not self.files.has_file(str(self.files.path / path)):
                self.files.write(path, text)
        events = [
            self._event(JournalCreated(journal_id=journal)),
            self._event(SessionImported(state=encode(taken))),
        ]
        self.state = self.files.import_session(taken, events)

    def _write_in_form(self) -> None:
        """Save a state that recorded no pipeline in the current format, with all events applied.

        It takes one rename; until then, the files are those of the older version.
        """
        is_there = self._loaded.source == "state.json"
        revision = self.state.revision if is_there else None
        self._apply(self.files.tail(self.state.applied_offset))
        self.files.save(self.state, after=revision)

    def _apply(self, tail: Iterable[tuple[Event, int]]) -> None:
        """Apply events to the state, and write the files that they imply; save nothing."""
        for event, offset in tail:
            before, self.state = self.state, advance(self.state, event, offset)
            self._add_implied(before, event, self.state)
            if has_counted(before, self.state):
                self.notice(event)

    def record(self, fact: Fact, *, seat: str = ORCHESTRATOR, launch: str = "") -> None:
        """Append a fact to the journal, then apply all pending events to the state, this one last.

        The description of a failure is shortened if it is too long for people to read.

        Args:
            fact: What happened.
            seat: The name of the seat that the fact is about or comes from.
            launch: The id of the launch that it is about; empty if it is about none.
        """
        self.files.append(self._event(shorten_failure(fact), seat=seat, launch=launch))
        self.catch_up()

    def record_next(self, fact: Fact) -> bool:
        """Append a fact unless others have appended events; return whether it was appended.

        This is for a fact that holds only for the current state. If other processes have appended
        events meanwhile, these are applied instead, and the caller has to decide again.
        """
        with self.files.transact() as held:
            quicker = len(held.loaded_session.tail)
            if not quicker:
                held.append(self._event(fact))
        self._pending += quicker
        self.catch_up()
        return not quicker

    def catch_up(self) -> tuple[Event, ...]:
        """Apply and return all events that other processes appended; save after each that counts.

        A signal that does not count, such as one that an agent repeats, only advances the position
        up to which the journal is applied. That position is saved with the next event that counts,
        or at the end.
        """
        tail = self.files.tail(self.state.applied_offset)
        for warning in self.files.take_skipped():
            self.tell(warning)
        folded = self.state
        for event, offset in tail:
            before, folded = folded, advance(folded, event, offset)
            counts = has_counted(before, folded)
            if counts or not is_judged(event):
                self._add_implied(before, event, folded)
                self._commit(folded)
            if counts:
                self.notice(event)
        if folded is not self.state:
            self._commit(folded)
        return tuple(event for event, _ in tail)

    def artifacts(self) -> Artifacts:
        """Return the artifacts that count in the current state."""
        return self.files.artifacts(self.state)

    def _add_implied(self, before: SessionState, event: Event, after: SessionState) -> None:
        """Write the files that must exist after ``event``; call this before ``after`` is saved."""
        for each in derive_files(before, event, after):
            self.files.add(each)

    def _commit(self, after: SessionState) -> None:
        """Save the state ``after`` and make it the current one.

        If ``state.json`` was written and only a later step failed, the state becomes current, too:
        else, after a moment with a full disk, our own state would look like another process's.

        Raises:
            DataError: A step failed.
        """
        try:
            self.files.save(after, after=self.state.revision)
        except DataError:
            with suppress(AgentmuxError):
                if self.files.load().state == after:
                    self.state = after
            raise
        self.state = after

    def _event(self, fact: Fact, *, seat: str = ORCHESTRATOR, launch: str = "") -> Event:
        return Event(
            id=self.new_id(),
            at=stamp(self.now()),
            seat=seat,
            launch=launch,
            cycle=self.state.cycle,
            fact=fact,
        )


def resumed_values(state: SessionState, artifacts: Artifacts, phase: str) -> dict[str, object]:
    """Return the fields of a `StateFromDisk`: what the artifacts show of the session's state.

    They become the field ``found`` of a ``resumed`` event. Drafts do not count. ``phase`` is the
    phase in which the session resumes.
    """
    return to_fields(state_from_disk(state, without_drafts(state, artifacts), phase))
