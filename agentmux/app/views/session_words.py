"""The words for one session in every user interface: its phase, its needs, the next command."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentmux.core.names.phase import SETUP
from agentmux.core.names.status_labels import SessionStatus, mend_setup
from agentmux.core.names.statuses import BROKEN, CAPPED, FAILED, INTERRUPTED, KEEP, RUNNING
from agentmux.core.names.words.session_commands import stop_and_resume

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView


def where(view: SessionView) -> str:
    """Return the session's phase as text, such as ``fixing, cycle 2, fix 1``.

    The fix is the last that a failed check or review led to. Cycle 1 is left out, and fix 0. An
    unknown phase is shown as ``-``.
    """
    phase = view.phase or "-"
    cycle = f", cycle {view.cycle}" if view.cycle > 1 else ""
    fix = f", fix {view.review_iteration}" if view.review_iteration else ""
    return f"{phase}{cycle}{fix}"


def also_where(view: SessionView, before: str = ", ") -> str:
    """Return ``before`` and then the phase (see `where`); empty if the status already says it."""
    return "" if view.phase == view.status else f"{before}{where(view)}"


def moved_lines(view: SessionView) -> Iterator[str]:
    """Yield one phrase if the session was exported or imported, else nothing.

    It names the file or the host, and the day: ``to FILE on 2026-01-31``, or ``here from HOST on``
    and the day.
    """
    if view.moved:
        yield f"to {view.moved.get('to')} on {str(view.moved.get('at'))[:10]}"
    elif view.arrived:
        yield f"here from {view.arrived.get('host')} on {str(view.arrived.get('at'))[:10]}"


def check_lines(view: SessionView) -> Iterator[str]:
    """Yield one line for each command of the checks that has ended: its phase, and how it ended."""
    for phase in view.as_json()["checks"]:
        for command in phase["commands"]:
            yield f"{phase['phase']}, {command['says']}"


def failed_judgement(view: SessionView) -> str:
    """Return what did not pass, if the user has to decide now: ``check`` or ``review``.

    Empty if everything passed, or if the session does not wait for a decision.
    """
    if view.status != SessionStatus.DECISION:
        return ""
    if any(each.get("outcome") == CAPPED for each in view.checks):
        return "check"
    return "review" if view.review_outcome == CAPPED else ""


def label(view: SessionView) -> str:
    """Return the words for a session's status; if a decision is needed, they say so.

    They also name what failed or, if the session does not run, its status.
    """
    doubted = failed_judgement(view)
    if doubted:
        return f"decide: {doubted} failed"
    rests = view.decision and view.status in {SessionStatus.INTERRUPTED, SessionStatus.STOPPED}
    return f"decide ({view.label})" if rests else view.label


def failed_commands(view: SessionView) -> Mapping[str, str]:
    """Return the output of each command because of which a check did not pass, or cannot go on.

    These are the commands that failed in a check that did not pass, and those that could not run
    and were not skipped. The keys are their lines in `check_lines`.
    """
    return {
        f"{phase['phase']}, {command['says']}": str(command["output"] or "")
        for phase in view.as_json()["checks"]
        for command in phase["commands"]
        if (command["outcome"] == FAILED and phase["outcome"] in {FAILED, CAPPED})
        or (command["outcome"] == BROKEN and not command["skipped"])
    }


def ways_not_looked_up() -> tuple[str, ...]:
    """Return one text, which says that nobody looked how to get the result; runs no git.

    It is the default for functions that take a function ``ways``.
    """
    return ("(not looked for)",)


def lines_after_detach(
    view: SessionView, ways: Callable[[], tuple[str, ...]] = ways_not_looked_up
) -> list[str]:
    """Return a session's state and the next command, as lines to print after a detach from tmux.

    Args:
        view: The session.
        ways: Returns warnings about a kept result and, last, the command to get it; called only if
            the result was kept (`is_kept`). By default, the line says that nobody looked for them.
    """
    name = view.session
    if view.status == SessionStatus.DONE:
        return [f"session {name} is done: {'; '.join(outcome_lines(view, ways))}"]
    if view.moved:
        return [f"session {name} was moved {next(moved_lines(view))}"]
    steps = [*next_lines(view)]
    steps[:1] = [f"next: {steps[0]}" if steps else f"watch it: agentmux attach {name}"]
    return [f"session {name} is {label(view)}{also_where(view, ', in phase ')}", *steps]


def outcome_lines(
    view: SessionView, ways: Callable[[], tuple[str, ...]] = ways_not_looked_up
) -> tuple[str, ...]:
    """Return where the result of a done session is, and how to get a result that was kept.

    These are texts for people: the commit (or that nothing was committed) and where it went; then,
    if the result was kept, warnings and the command to get it.

    Args:
        view: The session, which is done.
        ways: Returns warnings about a kept result and, last, the command to get it; called only if
            the result was kept (`is_kept`). By default, the last text says that nobody looked.
    """
    where = f"commit {view.commit[:12]}" if view.commit else "nothing was committed"
    if view.commit and _goes_on(view):
        return (f"{where}, {_goes_on(view)}",)
    if not is_kept(view):
        return (where,)
    *before, way = ways()
    return (f"{where} on branch {view.branch}", *before, f"get it with: {way}")


def is_kept(view: SessionView) -> bool:
    """Return whether the session is done and its result is only on the session's own branch."""
    done = view.status == SessionStatus.DONE and bool(view.commit)
    return done and bool(view.worktree) and not _goes_on(view)


def _goes_on(view: SessionView) -> str:
    """Return where the result of a done session was delivered to; empty if it was kept."""
    done = delivery_steps(view)
    steps = [f"merged into {done['merge'].get('base')}"] if "merge" in done else []
    if "push" in done:
        steps.append(f"pushed to {done['push'].get('remote')}")
    if "request" in done:
        steps.append(str(done["request"].get("url")))
    return ", ".join(steps)


def delivery_steps(view: SessionView) -> Mapping[str, Mapping[str, Any]]:
    """Return the fields of each step of the delivery, by the step's name; empty if there is none.

    The fields are the step's ``status`` and what was recorded of the step.
    """
    steps: Any = (view.as_json()["delivery"] or {}).get("steps")
    return steps if isinstance(steps, dict) else {}


def step_labels(view: SessionView) -> list[str]:
    """Return a text for each step of the delivery: its name and its status, as in ``merge done``.

    A step that is running is shown as interrupted if no orchestrator runs.
    """
    steps = ((name, str(step.get("status"))) for name, step in delivery_steps(view).items())
    stopped = view.orchestrator is None
    return [
        f"{n} {INTERRUPTED if stopped and status == RUNNING else status}" for n, status in steps
    ]


def next_step(view: SessionView) -> str:
    """Return the `next_lines` as one line; empty if nothing is to be done."""
    return "; ".join(next_lines(view))


def next_lines(view: SessionView) -> tuple[str, ...]:
    """Return, in words, the command that the user most likely needs next, then other choices.

    Each is a line: the first can be typed as it is, the others say ``or`` or ``look:`` before.
    None if nothing is to be done.
    """
    name = view.session
    if view.copy_of is not None:
        return (f"agentmux status {shlex.quote(view.copy_of)}",)
    if view.rename or view.outdated or view.away:
        return (view.rename or _describe_resume(view),)
    if view.decision:
        ways = [f"agentmux approve {name}{_again(view)}"]
        ways.append(f'agentmux request-changes "…" --session {name}')
        first, other = ways[::-1] if failed_judgement(view) and not _again(view) else ways
        return first, f"or {other}"
    seat = _to_restart(view)
    if seat:
        return _restart(view, seat)
    if view.status in _LOOK_AT:
        return _look(view)
    if view.status == SessionStatus.INTERRUPTED and view.has_lost_orchestrator:
        return (f"agentmux resume {name} --reattach",)
    if (
        view.status in {SessionStatus.INTERRUPTED, SessionStatus.STOPPED, SessionStatus.FAILED}
        and not view.live
    ):
        mended = view.status == SessionStatus.FAILED and _failed_seat(view) == SETUP
        return (f"agentmux resume {name}", *(f"or {mend_setup(name, stop=False)}",) * mended)
    failed = view.status == SessionStatus.FAILED
    return (stop_and_resume(name),) * failed


def _describe_resume(view: SessionView) -> str:
    """Return how to resume a session that only a resume can repair."""
    name = view.session
    if view.outdated or view.live:
        return stop_and_resume(name)
    return f"agentmux resume {name}"


_LOOK_AT: Final = frozenset(
    {SessionStatus.WAITING, SessionStatus.STALLED, SessionStatus.LIMIT, SessionStatus.PARKED}
)
"""The statuses of sessions whose user should look at a pane, or wait."""


def _restart(view: SessionView, seat: str) -> tuple[str, ...]:
    again = f"agentmux restart {view.session} --role {seat}"
    if any(each.seat == seat and each.status == BROKEN for each in view.seats):
        return again, f"or, to go on without it: {again} --skip"
    return again, *(f"or {mend_setup(view.session)}",) * (seat == SETUP)


def _look(view: SessionView) -> tuple[str, ...]:
    name = view.session
    if view.status == SessionStatus.PARKED:
        return "wait", f"or, to go on at once: agentmux unpark {name}"
    seats = {each.status: each.seat for each in reversed(view.seats)}
    if SessionStatus.WAITING in seats:  # nothing can be told to an agent that asks
        role = f"{name} --role {seats[SessionStatus.WAITING]}"
        return f"agentmux answer {role}", f"look: agentmux attach {name}"
    if SessionStatus.STALLED in seats:
        role = f"{name} --role {seats[SessionStatus.STALLED]}"
        return f'agentmux tell {role} "…"', f"look: agentmux attach {name}"
    return (f"agentmux attach {name}",)


def _again(view: SessionView) -> str:
    """Return the flag that retries a failed delivery; empty if no step failed."""
    delivery = view.delivery or {}
    steps = delivery.get("steps")
    records = steps.values() if isinstance(steps, dict) else ()
    failed = any(isinstance(each, dict) and each.get("status") == FAILED for each in records)
    return f" --{delivery.get('then')}" if failed and delivery.get("then") != KEEP else ""


def _to_restart(view: SessionView) -> str:
    """Return a seat of a live session that the user can restart; empty if there is none.

    It is a seat for whose work the session waits although its agent has left, or the seat that
    made the session fail.
    """
    lost = _failed_seat(view)
    seats = view.seats if view.orchestrator is not None else ()
    return next((seat.seat for seat in seats if seat.holds_up or seat.seat == lost), "")


def _failed_seat(view: SessionView) -> str | None:
    """Return the seat that made the session fail; None if no seat did."""
    seat = (view.interruption or {}).get("seat") if view.status == SessionStatus.FAILED else None
    return str(seat) if seat else None
