"""Builds the views of sessions that ``status`` and ``list`` show.

A value in the state that has the wrong type counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.result import OperationResult, SessionProblem, problem_of, worst
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    command_to_rename,
    describe_stranger,
    describe_twin,
    live,
    shown_path,
)
from agentmux.app.session.search.orchestrator_version import other_version_label
from agentmux.app.session.workplace.workplace import is_away, workplace
from agentmux.app.views.plain_fields import NOTHING, age, mapping, number, stamp, text
from agentmux.app.views.session.seat_views import seat_views, session_label
from agentmux.app.views.session.session_view import (
    FEATURE_NAME,
    ORCHESTRATOR_GONE,
    SeatView,
    SessionView,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.tree_checkpoints import interrupted_label
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.events import UserDecision
from agentmux.core.journal.state import decode
from agentmux.core.names import layout
from agentmux.core.names.status_labels import (
    SessionStatus,
    left_out_label,
    most_urgent,
    status_label,
)
from agentmux.core.names.statuses import (
    BROKEN,
    CAPPED,
    COMMITTING,
    DELAYED,
    ENDED_STATUSES,
    FAILED,
    LAUNCHED,
    PERSON_MODES,
    RUNNING,
    STALLED,
    STOPPED,
    WAITING,
)
from agentmux.errors import DataError, ExitCode

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.core.codec.records import Json

_DECIDED: Final = "your decision is recorded, and will be applied at the next resume"
_TAKEN: Final = "your decision is taken"
"""The label until the orchestrator, which runs, has applied the decision."""
_INTERRUPTED: Final = "was interrupted; a resume finds out whether it was done, and else does it"
_FEATURE_MAX: Final = 120


def look(
    site: Site, entries: Sequence[SessionEntry], *, warns: bool = True
) -> OperationResult[tuple[SessionView, ...]]:
    """Return a view of each session, with the problems that were met; change nothing.

    The result has a problem for each session that cannot be read, or whose tmux server or lock
    cannot be asked (except if tmux is not installed, because then nothing is live). The worst one
    sets the exit code. Lesser problems are only in the view of their session.

    Args:
        site: The project.
        entries: The sessions.
        warns: Whether to ask git which files an approval would leave out, and to read from git's
            files whether a worktree is only half made, and whether HEAD has left a session's branch
            (the orchestrator's note on that may be a second old).
    """
    now, nested = site.now(), cache(site.repositories.nested)
    lives = live(site, entries)
    views: list[SessionView] = []
    problems: list[SessionProblem] = []
    for entry in entries:
        liveness = lives[entry.path]
        noted = site.folders.runtime(entry.path) if liveness.locked else NOTHING
        decided = False
        try:
            decided = _is_decided(site, entry)
        except DataError as error:
            problems.append(problem_of(entry.name, error))
        if warns:
            noted = {**noted, "left_branch": ""}
        view = session_view(entry, liveness, noted, project=site.project, now=now, decided=decided)
        half_made = _describe_half_made(site, entry) if warns else ""
        left = _left_branch(site, entry) if warns else ""
        warnings = tuple(_of_another_version(liveness))
        if warns and not decided:
            warnings += tuple(_warnings(site, entry.fields, nested))
        problems_now = (*view.problems, *filter(None, (half_made, left)))
        away = view.away or bool(half_made)
        views.append(replace(view, problems=problems_now, warnings=warnings, away=away))
        problems += _grave(entry, liveness)
    return OperationResult(
        data=tuple(views),
        problems=tuple(problems),
        exit_code=worst(problem.code for problem in problems),
    )


def _grave(entry: SessionEntry, liveness: Liveness) -> Iterator[SessionProblem]:
    if entry.problem is not None:
        yield entry.problem
    # Without tmux installed, nothing is live: the view says so, but it is not a problem.
    error = liveness.error
    if error and (liveness.live is None or error.exit_code is not ExitCode.MISSING):
        yield problem_of(entry.name, error)


def _is_decided(site: Site, entry: SessionEntry) -> bool:
    """Return whether the journal contains a decision of the user that is not applied yet."""
    if entry.problem is not None or not wants_decision(entry.fields):
        return False
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
        runtime: The fields of the session's runtime note (`RuntimeNote`); empty if there is none.
            Ignored unless the present orchestrator wrote it.
        project: The directory that shown paths are relative to.
        now: The current time.
        decided: Whether the journal contains a decision of the user that is not applied yet.
    """
    noted = runtime if liveness.locked and _is_of(liveness, runtime) else NOTHING
    seats = tuple(seat_views(entry, liveness, noted, now))
    original = liveness.copy_of or liveness.original
    away = original is None and _is_away(entry)
    problems = (
        *_problems(entry, liveness, noted, away=away),
        *_told_by_seats(seats if liveness.locked else ()),
    )
    turn = wants_decision(entry.fields) and not (decided or entry.is_moved)
    status = _status(entry, liveness, noted, seats, turn=turn)
    is_taken = decided and status is SessionStatus.RUNNING
    return SessionView(
        session=entry.name,
        path=shown_path(entry.path, project),
        feature=" ".join(entry.text("feature").split())[:_FEATURE_MAX],
        phase=entry.phase,
        state_source=entry.source,
        status=status,
        label=_TAKEN if is_taken else session_label(status, seats),
        summary=_summary(entry.fields),
        title=entry.title,
        pipeline=text(mapping(entry.fields, "pipeline"), "name") or FEATURE_NAME,
        cycle=number(entry.fields, "cycle", 1),
        review_iteration=number(mapping(entry.fields, "fix"), "iteration", 0),
        review_outcome=_outcome(entry.fields),
        live=liveness.live,
        because=liveness.because,
        copy_of=str(original) if original is not None else None,
        orchestrator=liveness.orchestrator,
        away=away,
        outdated=liveness.other_version is not None,
        tmux_session=liveness.tmux.name if liveness.tmux else entry.text("session_name"),
        tmux_socket=entry.text("tmux_socket"),
        rename=_rename(entry, liveness),
        branch=entry.text("branch") or None,
        worktree=entry.text("worktree") or None,
        base=mapping(entry.fields, "base") or None,
        issue=mapping(entry.fields, "issue") or None,
        request=mapping(entry.fields, "request") or None,
        decision=turn,
        commit=text(mapping(entry.fields, "commit"), "commit") or None,
        seats=seats,
        interruption=mapping(entry.fields, "interruption") or None,
        moved=mapping(entry.fields, "moved") or None,
        arrived=mapping(entry.fields, "arrived") or None,
        updated_at=stamp(entry.updated),
        age_s=age(entry.updated, now),
        problems=(*problems, _DECIDED) if decided and not liveness.locked else problems,
        delivery=mapping(entry.fields, "delivery") or None,
        checks=_checks(entry.fields),
    )


def _outcome(fields: Json) -> str | None:
    """Return what the checks and reviews have found together; None while that is open."""
    results = mapping(fields, "results")
    outcomes = {text(mapping(results, phase), "outcome") for phase in results}
    if CAPPED in outcomes:
        return CAPPED
    return outcomes.pop() or None if len(outcomes) == 1 and FAILED not in outcomes else None


def _summary(fields: Json) -> str:
    """Return the path of the summary: in the folder of the last phase of the session's pipeline."""
    phases = mapping(fields, "pipeline").get("phases")
    ends = phases if isinstance(phases, list) else []
    finals = [each for each in ends if isinstance(each, dict) and each.get("kind") == Kind.COMPLETE]
    last = finals[-1] if finals else {}
    return f"{last.get('folder') or last.get('phase') or layout.COMPLETION}/summary.md"


def _checks(fields: Json) -> tuple[Json, ...]:
    """Return what the checks have found; decodes the state only if the session has checks."""
    if not fields.get("verify") or not fields.get("results"):
        return ()
    from agentmux.core.pipeline.verified import verified_fields

    try:
        return tuple(verified_fields(decode(fields, where="state.json")))
    except DataError:
        return ()


def _is_of(liveness: Liveness, runtime: Json) -> bool:
    """Whether the runtime note may be the present orchestrator's, not an earlier one's."""
    return runtime.get("orchestrator_pid") in {None, liveness.orchestrator}


def _of_another_version(liveness: Liveness) -> Iterator[str]:
    if liveness.other_version is not None:
        yield other_version_label(liveness.other_version)


def _warnings(site: Site, fields: Json, nested: Callable[[Path], tuple[str, ...]]) -> Iterator[str]:
    """Yield a warning for each nested repository that an approval would leave out of the commit."""
    options = mapping(fields, "options")
    if not wants_decision(fields) or not options.get("commit"):
        return
    known = options.get("dirty")
    for path in nested(workplace(site, fields)):
        if not isinstance(known, list) or path not in known:
            yield left_out_label(path)


def _left_branch(site: Site, entry: SessionEntry) -> str:
    """Return a sentence if HEAD has left the branch of an unfinished session, or if that is gone.

    Else empty.

    Reads only files.
    """
    place = workplace(site, entry.fields)
    if entry.problem is not None or entry.is_done or entry.is_moved or not place.is_dir():
        return ""
    branch = site.repositories.branch_at(place)
    is_on_it = branch == entry.text("branch")
    if branch is None or (is_on_it and not site.repositories.is_branch_gone(place, branch)):
        return ""
    from agentmux.core.decisions.workplace import branch_gone_words, left_branch_notice

    if is_on_it:
        end = site.repositories.last_commit_at(place)
        return "; ".join(branch_gone_words(branch, end)) if branch and end else ""

    try:
        return left_branch_notice(decode(entry.fields, where="state.json"), branch)
    except DataError:
        return ""


def with_branch(site: Site, view: SessionView) -> SessionView:
    """Return the view; if its session is done, with ``branch_gone`` looked up in the repository."""
    if view.status != SessionStatus.DONE or not view.branch:
        return view
    return replace(view, branch_gone=site.repositories.is_branch_gone(site.project, view.branch))


def is_completing(fields: Json) -> bool:
    """Return whether a session is in its last phase, given the fields of its ``state.json``."""
    phase, pipeline = fields.get("phase"), fields.get("pipeline")
    phases = pipeline.get("phases") if isinstance(pipeline, dict) else None
    listed = phases if isinstance(phases, list) else []
    here = next((e for e in listed if isinstance(e, dict) and e.get("phase") == phase), {})
    return here.get("kind") == Kind.COMPLETE


def wants_decision(fields: Json) -> bool:
    """Return whether the user has to approve or to request changes, given ``state.json``'s fields.

    That is so in the last phase, from the moment that the summary is handed in or the agent that
    writes it has left, until the result is approved; but not while a rewind has to be finished.
    """
    if not is_completing(fields) or fields.get("approval") or fields.get("rewind"):
        return False
    if fields.get("summary_submitted"):
        return True
    seats = mapping(fields, "seats")
    writers = [seat for name in seats if not text(seat := mapping(seats, name), "topic")]
    return bool(writers) and all(text(seat, "status") in ENDED_STATUSES for seat in writers)


def _has_pane_for_user(fields: Json) -> bool:
    """Return whether a pane waits for the user: for a choice, or as a shell instead of an agent."""
    seats = mapping(fields, "seats")
    return any(_is_for_user(mapping(seats, name)) for name in seats)


def _is_for_user(seat: Json) -> bool:
    status = seat.get("status")
    return status == STOPPED or (status == LAUNCHED and seat.get("mode") in PERSON_MODES)


def _status(
    entry: SessionEntry,
    liveness: Liveness,
    noted: Json,
    seats: tuple[SeatView, ...],
    *,
    turn: bool,
) -> SessionStatus:
    """Return the status of a session; ``turn`` is whether it waits for its user's decision."""
    if entry.problem is not None:
        return SessionStatus.UNREADABLE
    if liveness.starter is not None and not entry.is_done:
        return SessionStatus.STARTING
    if entry.is_moved:
        return SessionStatus.MOVED
    if entry.phase in {SessionStatus.DONE, SessionStatus.FAILED}:
        return SessionStatus(entry.phase)
    if liveness.live is None:
        return SessionStatus.UNKNOWN
    if not liveness.locked:
        return _at_rest(entry, liveness)
    return _at_work(entry, noted, seats, turn=turn)


def _at_work(
    entry: SessionEntry, noted: Json, seats: tuple[SeatView, ...], *, turn: bool
) -> SessionStatus:
    """Return the status of a session with an orchestrator: what is most urgent for a person."""
    seen = {seat.status for seat in seats}
    if turn:
        seen.add(SessionStatus.DECISION)
    if _has_pane_for_user(entry.fields) or any(seat.holds_up or seat.unsent for seat in seats):
        seen.add(WAITING)
    if noted.get("problem") or mapping(entry.fields, "commit").get("status") == DELAYED:
        seen.add(STALLED)
    return most_urgent(seen)


def _at_rest(entry: SessionEntry, liveness: Liveness) -> SessionStatus:
    """Return the status of a session without an orchestrator.

    It is "stopped" if its user stopped it and it is not live, else "interrupted".
    """
    cause = mapping(entry.fields, "interruption").get("cause", "")
    stopped = str(cause).startswith("stopped") and not liveness.live
    return SessionStatus.STOPPED if stopped else SessionStatus.INTERRUPTED


def _problems(entry: SessionEntry, liveness: Liveness, noted: Json, *, away: bool) -> Iterator[str]:
    if entry.problem is not None:
        yield entry.problem.message
    yield from entry.warnings
    yield from _tmux_problems(entry, liveness)
    if liveness.original is not None and liveness.copy_of is None:
        yield describe_twin(entry, liveness.original)
    if entry.phase == SessionStatus.FAILED:
        cause = text(mapping(entry.fields, "interruption"), "cause")
        yield f"it failed: {cause}" if cause else "it failed"
    if away and not noted.get("problem"):
        place = entry.text("worktree")
        yield f"the worktree {place} is not there: a resume makes it again, or finds it elsewhere"
    if not liveness.locked and (rewind := mapping(entry.fields, "rewind")):
        yield interrupted_label(number(rewind, "before", 0))
    if noted.get("problem"):
        yield str(noted["problem"])
    if noted.get("left_branch"):
        yield str(noted["left_branch"])
    yield from _delivery_problems(entry.fields, is_driven=liveness.is_driven)


def _is_away(entry: SessionEntry) -> bool:
    """Whether the worktree of an unfinished session is missing."""
    return _needs_worktree(entry) and is_away(Path(entry.text("worktree")))


def _needs_worktree(entry: SessionEntry) -> bool:
    has_worktree = bool(entry.text("worktree")) and entry.fields.get("worktree_made") is True
    return has_worktree and not (entry.is_done or entry.is_moved)


def _describe_half_made(site: Site, entry: SessionEntry) -> str:
    """Return a sentence if a kill has left the session's worktree half made; else empty."""
    place = Path(entry.text("worktree"))
    if not _needs_worktree(entry) or not site.repositories.is_half_made(place):
        return ""
    return (
        f"the worktree {place} is only half made: a resume makes it again, and keeps beside it what"
        " somebody wrote there"
    )


def _delivery_problems(fields: Json, *, is_driven: bool) -> Iterator[str]:
    """Yield why the result is not delivered; without an orchestrator, no step counts as running."""
    commit = mapping(fields, "commit")
    status, reason = commit.get("status"), text(commit, "reason")
    if status == FAILED:
        yield f"the commit failed: {reason}"
    elif status == DELAYED:
        yield f"the commit {'waits' if is_driven else 'waited for a resume to try again'}: {reason}"
    elif status == COMMITTING and not is_driven:
        yield f"the commit {_INTERRUPTED}"
    steps = mapping(mapping(fields, "delivery"), "steps")
    for name in steps:
        step = mapping(steps, name)
        if name == "commit":
            continue
        if step.get("status") == FAILED:
            yield f"{name} failed: {text(step, 'reason')}"
        elif step.get("status") == RUNNING and not is_driven:
            yield f"the {name} {_INTERRUPTED}"


def _rename(entry: SessionEntry, liveness: Liveness) -> str:
    """Return the command that removes a tmux session of the same name from the session's way."""
    if liveness.tmux is None or not liveness.is_stranger or entry.is_done:
        return ""
    return command_to_rename(liveness.socket, liveness.tmux)


def _tmux_problems(entry: SessionEntry, liveness: Liveness) -> Iterator[str]:
    if liveness.error is not None:
        yield liveness.error.message
    if liveness.copy_of is not None:
        yield liveness.because
    elif liveness.way_back:
        yield "; ".join((liveness.because, *liveness.way_back))
    elif liveness.tmux is not None and liveness.is_stranger:
        yield describe_stranger(entry, liveness.tmux)
    elif liveness.is_left_alone and not entry.is_done:  # a done one ends its panes by itself
        yield ORCHESTRATOR_GONE


def _told_by_seats(seats: Iterable[SeatView]) -> Iterator[str]:
    for seat in seats:
        if seat.trouble:
            yield f"{seat.seat} says: {seat.trouble}"
        if seat.unsent:
            yield f"the prompt of {seat.seat} has not arrived: {seat.unsent}"
        if seat.status == BROKEN:
            yield f"{seat.seat} could not run: it says nothing of the result"
        if seat.has_gone:
            yield f"{seat.seat} left without handing in its work ({status_label(seat.status)})"
