"""What ``status`` and ``list`` show of a session, as data.

A value in the state that has the wrong type counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.result import OperationResult, Problem, problem_of, worst
from agentmux.app.session.lookup import Liveness, SessionEntry, live, shown_path
from agentmux.app.session.workplace import workplace
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.times import time_of
from agentmux.core.definitions.definition import Kind
from agentmux.core.names.phase import RESEARCHERS, Phase
from agentmux.core.names.status_labels import SessionStatus, left_out_label, status_label
from agentmux.core.names.statuses import (
    BROKEN,
    DELAYED,
    FAILED,
    LAUNCHED,
    LEFT,
    STALLED,
    STOPPED,
    WAITING,
)
from agentmux.errors import AgentmuxError, DataError, ExitCode

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.core.codec.records import Json

_NOTHING: Final[Mapping[str, Any]] = {}
ORCHESTRATOR_GONE: Final = "its orchestrator is gone"
_DECIDED: Final = "your decision is recorded, and will be applied at the next resume"
_HELD_UP: Final = {"failed": "the commit failed", "delayed": "the commit waits"}
_FEATURE_MAX: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatView:
    """What ``status`` shows of one seat.

    Attributes:
        mode: How it was launched: ``native``, ``fresh``, ``shell`` (a shell for a person) or
            ``screen`` (just its last screen).
        reason: Why it was launched in this mode.
        status: What its agent does, or why it is gone.
        source: Where the status comes from: ``screen``, ``journal`` or ``exit record``.
        age_s: How long it has had this status; None where unknown.
        attempt: 1, then +1 for each relaunch of the same work.
        prompt_bytes: Size of the prompt that was sent.
        fresh_prompt_bytes: Size of the prompt that a fresh start would have sent.
        resets: When its usage limit ends, in the agent's words; None without a limit, or unknown.
        trouble: The agent's last message about its service, such as an error; None for none.
    """

    seat: str
    role: str
    agent: str
    mode: str
    reason: str
    status: str
    source: str
    age_s: float | None
    attempt: int
    prompt_bytes: int
    fresh_prompt_bytes: int
    resets: str | None = None
    trouble: str | None = None

    @property
    def left(self) -> bool:
        """Whether its agent ended without handing in its work, and will not be launched again."""
        return self.status in LEFT

    @property
    def holds_up(self) -> bool:
        """Whether the phase waits for this seat although its agent has left.

        Also whether it waits for the user because a command of a check could not run. False for
        researchers: no phase waits for them.
        """
        return self.status == BROKEN or (self.left and self.role not in RESEARCHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What ``status`` and ``list`` show of one session.

    Attributes:
        path: Relative to the project where it is inside, else absolute.
        phase: None where the state cannot be read.
        live: None where its tmux server does not answer.
        copy_of: The directory of the live session that this one is a copy of.
        orchestrator: Pid of its orchestrator; None where none runs, or its pid is unknown.
        branch: The branch that its result goes on; None where HEAD is detached, or outside of git.
        worktree: The top of its own worktree; None where it works in the project's checkout.
        base: ``branch`` and ``commit`` that its worktree began on; None without one.
        issue: ``url``, ``number`` and ``title`` of the issue that it is about; None for none.
        request: ``url`` and ``number`` of the request for its result; None for none.
        decision: The session waits for the user to approve or to request changes.
        commit: The commit of the approval; None before, and where nothing was to be committed.
        delivery: Where the approved result goes: ``id``, ``then``, ``steps``; None without one.
        interruption: ``cause``, ``seat``, ``phase``, ``at``; None where nothing interrupted it.
        checks: What the commands that check the result have shown, by phase; see
            docs/reference/checks.md.
        problems: For people, one sentence each.
        warnings: What the user should know before deciding; one sentence each.
    """

    session: str
    path: str
    feature: str
    phase: str | None
    state_source: str
    status: SessionStatus
    cycle: int
    review_iteration: int
    review_outcome: str | None
    live: bool | None
    because: str
    copy_of: str | None
    orchestrator: int | None
    tmux_session: str
    tmux_socket: str
    branch: str | None
    worktree: str | None
    base: Json | None
    issue: Json | None
    request: Json | None
    decision: bool
    commit: str | None
    seats: tuple[SeatView, ...]
    interruption: Json | None
    updated_at: str
    age_s: float
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    delivery: Json | None = None
    checks: tuple[Json, ...] = ()

    @property
    def has_lost_orchestrator(self) -> bool:
        """Whether the session's panes are there, but no orchestrator drives them."""
        return ORCHESTRATOR_GONE in self.problems

    def as_json(self) -> dict[str, object]:
        """Return the fields of this view for a JSON answer."""
        made: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        made["seats"] = [
            {name: getattr(seat, name) for name in seat.__slots__} for seat in self.seats
        ]
        made["problems"] = list(self.problems)
        made["warnings"] = list(self.warnings)
        made["checks"] = [dict(each) for each in self.checks]
        made["base"] = dict(self.base) if self.base else None
        made["delivery"] = flat(self.delivery)
        made["issue"] = dict(self.issue) if self.issue else None
        made["request"] = dict(self.request) if self.request else None
        made["interruption"] = dict(self.interruption) if self.interruption else None
        return made


def flat(delivery: Json | None) -> dict[str, object] | None:
    """Return a delivery, as ``state.json`` has it, for a JSON answer; None without one.

    What was recorded of each step stands beside its status.
    """
    if delivery is None:
        return None
    steps = {}
    for name in _mapping(delivery, "steps"):
        step = _mapping(_mapping(delivery, "steps"), name)
        kept = {key: value for key, value in step.items() if key != "record"}
        steps[name] = {**_mapping(step, "record"), **kept}
    return {**delivery, "steps": steps}


def look(site: Site, entries: Sequence[SessionEntry]) -> OperationResult[tuple[SessionView, ...]]:
    """Return a view of each session.

    The result has a problem for each session that cannot be read, or whose tmux server or lock
    cannot be asked (unless tmux is not installed, so that nothing is live). The worst one sets the
    exit code. Lesser problems are only in the view of their session.
    """
    now, nested = site.now(), cache(site.nested)
    found = live(site, entries)
    views: list[SessionView] = []
    problems: list[Problem] = []
    for entry in entries:
        liveness = found[entry.path]
        noted = site.folders.runtime(entry.path) if liveness.locked else _NOTHING
        decided = False
        try:
            decided = not liveness.locked and _is_decided(site, entry)
        except DataError as error:
            problems.append(problem_of(entry.name, error))
        view = session_view(entry, liveness, noted, project=site.project, now=now, decided=decided)
        warnings = () if decided else tuple(_warnings(site, entry.fields, nested))
        views.append(replace(view, warnings=warnings))
        problems += _grave(entry, liveness)
    return OperationResult(
        data=tuple(views),
        problems=tuple(problems),
        exit_code=worst(problem.code for problem in problems),
    )


def _grave(entry: SessionEntry, liveness: Liveness) -> Iterator[Problem]:
    if entry.problem is not None:
        yield entry.problem
    # Where tmux is not installed, nothing is live: the view says so, but it is no problem.
    if liveness.error is not None and (liveness.live is None or not _is_missing(liveness.error)):
        yield problem_of(entry.name, liveness.error)


def _is_missing(error: AgentmuxError) -> bool:
    return error.exit_code is ExitCode.MISSING


def _is_decided(site: Site, entry: SessionEntry) -> bool:
    """Return whether the journal contains a decision of the user that is not applied yet."""
    if entry.problem is not None or not wants_decision(entry.fields):
        return False
    from agentmux.core.journal.events import UserDecision  # noqa: PLC0415 (for those who look, mostly unused)

    tail = site.files(entry.path).load().tail
    return any(isinstance(event.fact, UserDecision) for event, _ in tail)


def session_view(
    entry: SessionEntry,
    liveness: Liveness,
    runtime: Json,
    *,
    project: Path,
    now: datetime,
    decided: bool = False,
) -> SessionView:
    """Return everything that is known about one session.

    Args:
        entry: The session.
        liveness: Whether its tmux session and its orchestrator run.
        runtime: The runtime note of its orchestrator; ignored unless that one runs.
        project: The directory that shown paths are relative to.
        now: The current time.
        decided: The user's decision is in the journal, and is not applied yet.
    """
    noted = runtime if liveness.locked and _is_of(liveness, runtime) else _NOTHING
    seats = tuple(_seats(entry, liveness, noted, now))
    problems = (
        *_problems(entry, liveness, noted),
        *_told_by_seats(seats if liveness.locked else ()),
    )
    return SessionView(
        session=entry.name,
        path=shown_path(entry.path, project),
        feature=" ".join(entry.text("feature").split())[:_FEATURE_MAX],
        phase=entry.phase,
        state_source=entry.source,
        status=_status(entry, liveness, noted, seats),
        cycle=_number(entry.fields, "cycle", 1),
        review_iteration=_number(entry.fields, "review_iteration", 0),
        review_outcome=entry.text("review_outcome") or None,
        live=liveness.live,
        because=liveness.because,
        copy_of=str(liveness.copy_of) if liveness.copy_of is not None else None,
        orchestrator=liveness.orchestrator,
        tmux_session=liveness.tmux.name if liveness.tmux else entry.text("session_name"),
        tmux_socket=entry.text("tmux_socket"),
        branch=entry.text("branch") or None,
        worktree=entry.text("worktree") or None,
        base=_mapping(entry.fields, "base") or None,
        issue=_mapping(entry.fields, "issue") or None,
        request=_mapping(entry.fields, "request") or None,
        decision=wants_decision(entry.fields) and not decided,
        commit=_text(_mapping(entry.fields, "commit"), "commit") or None,
        seats=seats,
        interruption=_mapping(entry.fields, "interruption") or None,
        updated_at=_stamp(entry.updated),
        age_s=_age(entry.updated, now),
        problems=(*problems, _DECIDED) if decided else problems,
        delivery=_mapping(entry.fields, "delivery") or None,
        checks=_checks(entry.fields),
    )


def _checks(fields: Json) -> tuple[Json, ...]:
    """Return what the checks have found; decoded only where the session has any."""
    if not fields.get("verify") or not fields.get("results"):
        return ()
    from agentmux.core.journal.state import decode  # noqa: PLC0415 (for those who check)
    from agentmux.core.pipeline.verified import verified_fields  # noqa: PLC0415 (as above)

    try:
        return tuple(verified_fields(decode(fields, where="state.json")))
    except DataError:
        return ()


def _is_of(liveness: Liveness, runtime: Json) -> bool:
    """Whether the runtime note may be that of the present orchestrator, not of an earlier one."""
    return runtime.get("orchestrator_pid") in {None, liveness.orchestrator}


def _warnings(site: Site, fields: Json, nested: Callable[[Path], tuple[str, ...]]) -> Iterator[str]:
    """Warn of what an approval would leave out of the commit."""
    options = _mapping(fields, "options")
    if not wants_decision(fields) or not options.get("commit"):
        return
    known = options.get("dirty")
    for path in nested(workplace(site, fields)):
        if not isinstance(known, list) or path not in known:
            yield left_out_label(path)


def is_completing(fields: Json) -> bool:
    """Whether a session is in its last phase, by the content of its ``state.json``."""
    phase, pipeline = fields.get("phase"), fields.get("pipeline")
    phases = pipeline.get("phases") if isinstance(pipeline, dict) else None
    if not isinstance(phases, list):
        return phase == Phase.COMPLETING
    here = next((e for e in phases if isinstance(e, dict) and e.get("phase") == phase), {})
    return here.get("kind") == Kind.COMPLETE


def wants_decision(fields: Json) -> bool:
    """Return whether the user has to approve or to request changes.

    That is the case in the last phase, once the summary is handed in or the agent that writes it
    has left, and until the result is approved.
    """
    if not is_completing(fields) or fields.get("approval"):
        return False
    if fields.get("summary_submitted"):
        return True
    seats = _mapping(fields, "seats")
    writers = [seat for name in seats if not _text(seat := _mapping(seats, name), "topic")]
    return bool(writers) and all(_text(seat, "status") in LEFT for seat in writers)


def _waits_for_choice(fields: Json) -> bool:
    """Return whether a pane waits for the user to choose how to start its agent."""
    seats = _mapping(fields, "seats")
    return any(_mapping(seats, name).get("status") == STOPPED for name in seats)


def _status(
    entry: SessionEntry, liveness: Liveness, noted: Json, seats: tuple[SeatView, ...]
) -> SessionStatus:
    if entry.problem is not None:
        return SessionStatus.UNREADABLE
    if liveness.starter is not None and not entry.is_done:
        return SessionStatus.STARTING
    if entry.phase in {SessionStatus.DONE, SessionStatus.FAILED}:
        return SessionStatus(entry.phase)
    if liveness.live is None:
        return SessionStatus.UNKNOWN
    if not liveness.locked:
        return _at_rest(entry, liveness)
    return _at_work(entry, noted, seats)


def _at_work(entry: SessionEntry, noted: Json, seats: tuple[SeatView, ...]) -> SessionStatus:
    """Return the status of a session with an orchestrator: the most urgent thing for a person.

    In this order: somebody waits for the user, something is stalled, a usage limit; else running.
    """
    seen = {seat.status for seat in seats}
    if wants_decision(entry.fields) or _waits_for_choice(entry.fields):
        seen.add(WAITING)
    if any(seat.holds_up for seat in seats):
        seen.add(WAITING)
    if noted.get("problem") or _mapping(entry.fields, "commit").get("status") == DELAYED:
        seen.add(STALLED)
    for status in (SessionStatus.WAITING, SessionStatus.STALLED, SessionStatus.LIMIT):
        if status in seen:
            return status
    return SessionStatus.RUNNING


def _at_rest(entry: SessionEntry, liveness: Liveness) -> SessionStatus:
    """Return the status of a session without an orchestrator.

    It is "stopped" if its user stopped it and it is not live, else "interrupted".
    """
    cause = _mapping(entry.fields, "interruption").get("cause", "")
    stopped = str(cause).startswith("stopped") and not liveness.live
    return SessionStatus.STOPPED if stopped else SessionStatus.INTERRUPTED


def _seats(
    entry: SessionEntry, liveness: Liveness, noted: Json, now: datetime
) -> Iterator[SeatView]:
    records, statuses = _mapping(entry.fields, "agents"), _mapping(noted, "statuses")
    panes, seats = _mapping(noted, "panes"), _mapping(entry.fields, "seats")
    for name in seats:
        seat = _mapping(seats, name)
        current = _mapping(panes, name).get("launch") in (None, seat.get("launch"))
        seen = _mapping(statuses, name) if current else _NOTHING
        status, source, since = _doing(seat, seen, runs=bool(liveness.live))
        told = seen if status == _text(seen, "status") else _NOTHING
        yield SeatView(
            seat=name,
            role=_text(seat, "role"),
            agent=_text(_mapping(records, name), "agent"),
            mode=_text(seat, "mode"),
            reason=_text(seat, "reason"),
            status=status,
            source=source,
            age_s=_age_of(since, now),
            attempt=_number(seat, "attempt", 1),
            prompt_bytes=_number(seat, "prompt_bytes", 0),
            fresh_prompt_bytes=_number(seat, "fresh_prompt_bytes", 0),
            resets=_text(told, "resets") or None,
            trouble=_text(told, "trouble") or None,
        )


def _doing(seat: Mapping[str, Any], seen: Mapping[str, Any], *, runs: bool) -> tuple[str, str, str]:
    """Return `SeatView.status` and `SeatView.source` of a seat, and the time the status began.

    The time is empty where unknown.

    Args:
        seat: The seat's fields in the state.
        seen: What the orchestrator noted about it; may be empty. It counts only in a live session,
            and only while the state says that the seat is launched.
        runs: Whether the session is live.
    """
    recorded = _text(seat, "status")
    if recorded != LAUNCHED:
        return recorded, "journal", ""
    if not runs:
        return STOPPED, "journal", ""
    if _text(seen, "status"):
        return _text(seen, "status"), _text(seen, "source"), _text(seen, "since")
    status = STALLED if seat.get("stalled") else recorded
    return status, "journal", _text(seat, "since")


def _problems(entry: SessionEntry, liveness: Liveness, noted: Json) -> Iterator[str]:
    if entry.problem is not None:
        yield entry.problem.message
    yield from entry.warnings
    yield from _tmux_problems(liveness)
    if entry.phase == SessionStatus.FAILED:
        cause = _text(_mapping(entry.fields, "interruption"), "cause")
        yield f"it failed: {cause}" if cause else "it failed"
    if noted.get("problem"):
        yield str(noted["problem"])
    commit = _mapping(entry.fields, "commit")
    if commit.get("status") in _HELD_UP:
        yield f"{_HELD_UP[commit['status']]}: {_text(commit, 'reason')}"
    steps = _mapping(_mapping(entry.fields, "delivery"), "steps")
    for name in steps:
        step = _mapping(steps, name)
        if step.get("status") == FAILED and name != "commit":
            yield f"{name} failed: {_text(step, 'reason')}"


def _is_left_alone(liveness: Liveness) -> bool:
    """Return whether the session has panes but no orchestrator, and none is being started."""
    driven = liveness.locked or liveness.starter is not None
    return liveness.target is not None and not driven


def _tmux_problems(liveness: Liveness) -> Iterator[str]:
    if liveness.error is not None:
        yield liveness.error.message
    if liveness.copy_of is not None:
        yield liveness.because
    elif liveness.way_back:
        yield "; ".join((liveness.because, *liveness.way_back))
    elif _is_left_alone(liveness):
        yield ORCHESTRATOR_GONE


def _told_by_seats(seats: Iterable[SeatView]) -> Iterator[str]:
    for seat in seats:
        if seat.trouble:
            yield f"{seat.seat} says: {seat.trouble}"
        if seat.status == BROKEN:
            yield f"{seat.seat} could not run: it says nothing of the result"
        if seat.left:
            yield f"{seat.seat} left without handing in its work ({status_label(seat.status)})"


# -- odd values count as missing ------------------------------------------------------------------


def _mapping(fields: Json, name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else _NOTHING


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _number(fields: Json, name: str, default: int) -> int:
    value = fields.get(name)
    return value if type(value) is int else default


def _age(since: datetime, now: datetime) -> float:
    return max(0.0, round((now - since).total_seconds(), 3))


def _age_of(since: str, now: datetime) -> float | None:
    found = time_of(since)
    return None if found is None else _age(found, now)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
