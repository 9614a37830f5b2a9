"""A drive: start or resume a feature's session, deliver decisions, and follow it until it rests.

A drive can be killed at any point, and is then run again from its beginning. So each step first
checks what has been done already.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest, from_fields, session_slug
from agentmux.core.fleet.repositories import is_allowed
from agentmux.core.fleet.statuses import DEAD_LETTER, FleetStatus, Outcome, is_dead, outcome
from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.terminal.text import command_words
from agentmux.errors import AgentmuxError, DataError, ExitCode, UsageError
from agentmux.fleet.decisions.abandoned import stop_if_lost
from agentmux.fleet.decisions.ending import DriveEnd, finish, still_ours
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.rows import DELIVERED, REFUSED, Feature, FeatureDecision
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.host.command_line import decision_words, start_words
from agentmux.fleet.host.commands import CommandOutcome
from agentmux.fleet.host.host import Host
from agentmux.fleet.host.repository import fetch_base, project_at
from agentmux.fleet.host.session import HostSessions
from agentmux.fleet.host.stopping import StoppingError
from agentmux.fleet.host.untrusted_rows import require_decision

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView

logger = logging.getLogger(__name__)

_LOOK_S: Final = 10.0
_AGAIN_S: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before the next drive, after 1, 2, 3 or 4 drives in a row without progress."""
_AWAY_S: Final = (15.0, 60.0, 240.0, 960.0)
"""The same if git did not reach the repository: a network is often down for minutes."""
_CANCELLED: Final = "cancelled"
_GONE: Final = (
    "its session is no longer on this host, nor what it had done"
    " (agentmux fleet retry begins it again)"
)


def drive(host: Host, feature_id: str, number: int) -> str:
    """Run the *drive* workflow of a feature, from waiting for a slot until the drive has ended.

    It starts or resumes the feature's session, and delivers open decisions to it. It blocks until
    the session rests (it waits for a decision or a usage limit), is done or fails, and records that
    in the database.

    Args:
        host: This host.
        feature_id: The feature's id.
        number: The number of the workflow. If it is not the feature's newest, nothing is done.

    Returns:
        How the drive ended, in words, for the log.

    Raises:
        StoppingError: The worker is about to end.
    """

    def gives_up() -> bool:
        order = host.orders.get(feature_id)
        return host.stop.is_set() or (order is not None and order.cancels(number))

    row = host.write(lambda each: _begin_drive(each, host, feature_id, number))
    if row is None:
        return "superseded"
    host.slots.take(row.id, row.priority, gives_up)
    if host.stop.is_set():
        raise StoppingError
    try:
        row = host.write(lambda each: _begin_drive(each, host, feature_id, number))
        if row is None:
            return "superseded"
        ended = _run_drive(host, row)
        if not finish(host, row, ended) and ended.path is not None:
            stop_if_lost(host, ended.path, row.id, row.epoch)
        return f"{ended.outcome.status} {ended.outcome.reason}".strip()
    finally:
        host.slots.free(feature_id)


def _begin_drive(
    connection: sa.Connection, host: Host, feature_id: str, number: int
) -> Feature | None:
    """Set the feature to running, and return it; None if this drive is not its current one."""
    may = FEATURES.c.status.in_([FleetStatus.RUNNING, FleetStatus.PARKED])
    mine = (may, FEATURES.c.drive == number, FEATURES.c.host == host.id)
    if not rows.change(connection, feature_id, *mine, status=FleetStatus.RUNNING):
        return None
    return rows.feature(connection, feature_id)


def _is_ours(host: Host, row: Feature | None, number: int) -> bool:
    return (
        row is not None
        and row.status is FleetStatus.RUNNING
        and row.drive == number
        and row.host == host.id
    )


def _run_drive(host: Host, row: Feature) -> DriveEnd:
    try:
        request = from_fields(row.wish)
        if not is_allowed(request.repo, host.settings.repos):
            raise UsageError(f"{host.name} may not run {request.repo}: see `fleet.repos`")
        project = project_at(request.repo, host.place.clones, host.environ)
    except AgentmuxError as error:
        if row.cancelled:  # without a repository there is no session to stop
            return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=_CANCELLED))
        idle = row.idle_drives + 1
        host.write(lambda c: rows.change(c, row.id, *still_ours(host, row), idle_drives=idle))
        return _end_unreached(error, idle)
    sessions = HostSessions(project=project, environ=host.environ, config=host.config)
    return _Drive(host, row, request, sessions).run()


def _end_unreached(error: AgentmuxError, idle: int) -> DriveEnd:
    """Return how a drive ends that could not reach its repository.

    ``idle`` is the number of drives in a row without progress, including this one.
    """
    return _end_or_retry(_words(error), idle, FleetStatus.PARKED, () if error.lasting else _AWAY_S)


def _end_or_retry(
    said: str, idle: int, rests: FleetStatus, pauses_s: Sequence[float], path: Path | None = None
) -> DriveEnd:
    """Return how a drive ends that failed: with another drive after a pause, or for good.

    Args:
        said: The error, in words.
        idle: How many drives in a row made no progress, including this one.
        rests: The status of the feature until the next drive.
        pauses_s: The seconds to wait, by ``idle``; empty if a new try would not help.
        path: The session's directory; None if there is no session.
    """
    if not pauses_s:
        return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=said), path=path)
    if is_dead(idle):
        reason = f"{DEAD_LETTER} after {idle} drives without progress: {said}"
        return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=reason), path=path)
    return DriveEnd(Outcome(status=rests, reason=said), path=path, delay_s=pauses_s[idle - 1])


def _words(error: AgentmuxError) -> str:
    return f"{error.message} ({error.hints[0]})" if error.hints else error.message


class _Drive:
    """The drive of one feature on this host."""

    def __init__(
        self, host: Host, row: Feature, request: FleetRequest, sessions: HostSessions
    ) -> None:
        self._host, self._row, self._request, self._sessions = host, row, request, sessions
        self._slug = session_slug(row.id, request, row.epoch)
        self._path: Path | None = None
        self._delivered = False
        self._idle = 0
        self._phase = ""

    def run(self) -> DriveEnd:
        try:
            return self._run()
        except AgentmuxError as error:  # such as a configuration that is wrong
            message = _words(error)
            if self._row.cancelled:
                reason = f"{_CANCELLED}; its session: {message}"
                return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=reason), path=self._path)
            return self._again(message, lasting=error.lasting)

    def _run(self) -> DriveEnd:
        with self._host.commands.feature_lock(self._row.id) as lock:
            # Only with the lock: a session that a killed worker was starting may exist only now.
            self._path = self._sessions.find(self._slug)
            ended = self._prepare_session(lock)
        if ended is not None or self._path is None:
            return ended or DriveEnd(Outcome(status=FleetStatus.FAILED, reason="no session"))
        return self._follow_session(self._path)

    # -- before --------------------------------------------------------------------------------

    def _prepare_session(self, lock: int) -> DriveEnd | None:
        """Start or resume the session if needed, and deliver all open decisions.

        Returns:
            How the drive ends if the session does not run; None if it does.
        """
        if self._row.cancelled:
            return self._cancel_session(lock)
        dead = self._count_drive()
        if dead is not None:
            return dead
        if self._path is None:
            if self._row.session and not self._row.resumes:
                return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=_GONE))
            try:
                base = self._base()
            except AgentmuxError as error:
                logger.warning("%s: %s", self._slug, _words(error))
                return _end_unreached(error, self._idle)
            return self._end_if_failed(self._start_session(base, lock))
        self._host.leases.write(self._path, self._row.epoch)
        for each in self._host.write(lambda c: rows.open_decisions(c, self._row.id)):
            self._deliver(self._path, each, lock)
        return self._end_if_failed(self._resume_session(self._path, lock))

    def _count_drive(self) -> DriveEnd | None:
        """Count this drive as one without progress until it makes some.

        Returns:
            How the drive ends if there were too many such drives (a dead letter); else None.
        """
        seen = self._sessions.progress(self._path)
        idle = 0 if seen > self._row.progress else self._row.idle_drives
        if is_dead(idle):  # such as after killed workers, or interrupted sessions
            return _end_or_retry(self._row.reason, idle, FleetStatus.FAILED, _AGAIN_S)
        self._idle = idle + 1
        self._change(idle_drives=self._idle, progress=seen)
        return None

    def _base(self) -> str:
        request = self._request
        return fetch_base(self._sessions.project, request.repo, request.base, self._host.environ)

    def _start_session(self, base: str, lock: int) -> CommandOutcome:
        request, project = self._request, self._sessions.project
        lease = self._host.leases.text(self._row.epoch)
        words = (*start_words(request, self._slug, base), "--lease", lease)
        done = self._host.commands.run(project, words, lock=lock, text=request.feature)
        self._path = self._sessions.find(self._slug)
        return done

    def _resume_session(self, path: Path, lock: int) -> CommandOutcome | None:
        """Resume the session if it has no orchestrator; return None if it needs no resume.

        If its tmux session still exists, only a new orchestrator is attached to it.
        """
        view = self._sessions.view(path)
        again = self._row.resumes or bool(self._delivered)
        wanted = {SessionStatus.INTERRUPTED}
        if again:
            wanted |= {SessionStatus.STOPPED, SessionStatus.FAILED}
        if view.status not in wanted:
            return None
        if view.live and view.orchestrator is None:
            words = command_words.reattach(path.name)
        else:
            words = command_words.resume(path.name)
        return self._host.commands.run(
            self._sessions.project, (*words, "--yes", "--json"), lock=lock
        )

    def _end_if_failed(self, done: CommandOutcome | None) -> DriveEnd | None:
        """Return how the drive ends if the command ``done`` failed; None if it did not fail."""
        if done is None or done.code == ExitCode.OK:
            return None
        return self._again(done.said, lasting=done.lasting)

    def _again(self, said: str, *, lasting: bool) -> DriveEnd:
        logger.warning("%s: %s", self._slug, said)
        pauses_s = () if lasting else _AGAIN_S
        return _end_or_retry(said, self._idle, FleetStatus.RUNNING, pauses_s, self._path)

    def _deliver(self, path: Path, decision: FeatureDecision, lock: int) -> None:
        """Give a recorded decision to the session, and record whether the session accepted it."""
        try:
            words = decision_words(path.name, require_decision(decision))
        except DataError as error:
            message = error.message
            self._host.write(lambda each: rows.record_answer(each, decision.id, REFUSED, message))
            return
        end = self._host.commands.run(self._sessions.project, words, lock=lock, text=decision.text)
        accepted = end.answer.get("result") in {"accepted", "duplicate"}
        self._delivered = self._delivered or accepted
        status = DELIVERED if accepted else REFUSED
        message = "" if end.code == ExitCode.OK else end.said
        self._host.write(lambda each: rows.record_answer(each, decision.id, status, message))

    def _cancel_session(self, lock: int) -> DriveEnd:
        reason = _CANCELLED
        if self._path is not None:
            view = self._sessions.view(self._path)
            if view.live or view.orchestrator is not None:
                words = command_words.stop(self._path.name)
                done = self._host.commands.run(self._sessions.project, words, lock=lock)
                reason = reason if done.code == 0 else f"cancelled; its session: {done.said}"
        return DriveEnd(Outcome(status=FleetStatus.FAILED, reason=reason), path=self._path)

    # -- while it runs -------------------------------------------------------------------------

    def _follow_session(self, path: Path) -> DriveEnd:
        """Watch the session until it needs no more watching; return how the drive ends."""
        changed = self._host.watching.begin(path)
        self._note(path)
        status, since = None, time.monotonic()
        try:
            while True:
                changed.wait(_LOOK_S)
                changed.clear()
                if self._host.stop.is_set():
                    raise StoppingError
                order = self._host.orders.get(self._row.id)
                if order is None or order.epoch != self._row.epoch:
                    if self._is_lost():
                        lost = Outcome(status=FleetStatus.FAILED, reason="given to another host")
                        return DriveEnd(lost, path=path)
                elif order.cancels(self._row.drive):
                    with self._host.commands.feature_lock(self._row.id) as lock:
                        return self._cancel_session(lock)
                view = self._sessions.view(path)
                if view.status is not status:
                    status, since = view.status, time.monotonic()
                problem = next(iter(view.problems), "")
                result = outcome(view.status, time.monotonic() - since, problem)
                ended = None if result is None else self._rest(path, view, result)
                if ended is not None:
                    return ended
                self._note_phase(view)
        finally:
            self._host.watching.end(path)

    def _change(self, **values: object) -> None:
        """Change the feature's row, unless it now belongs to another drive or host."""
        host, row = self._host, self._row
        host.write(lambda each: rows.change(each, row.id, *still_ours(host, row), **values))

    def _is_lost(self) -> bool:
        row = self._host.write(lambda each: rows.feature(each, self._row.id))
        return not _is_ours(self._host, row, self._row.drive)

    def _note(self, path: Path) -> None:
        self._change(session=path.name, path=str(path), resumes=False, question=None)

    def _note_phase(self, view: SessionView) -> None:
        """Write the session's phase to the feature's row if it has changed."""
        phase = view.phase or ""
        if phase != self._phase:
            self._phase = phase
            self._change(phase=phase)

    def _rest(self, path: Path, view: SessionView, found: Outcome) -> DriveEnd | None:
        """Return how the drive ends; None if the session goes on, since it was just decided on."""
        question = None
        if view.status is SessionStatus.DECISION:
            question = self._sessions.question(path)
            if question is None:
                return None
        return DriveEnd(found, path=path, view=view, question=question)
