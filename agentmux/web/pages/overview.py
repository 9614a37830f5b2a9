"""Data for the overview page of a session: its phases, its summary, and the pending decision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.approval.approval_preview import verdict_lines
from agentmux.app.delivery.approval.approval_question import question_or_obstacle
from agentmux.app.delivery.approval.conflict_request import has_conflict
from agentmux.app.delivery.approval.result_view import check_lines, digest_now, stat_lines
from agentmux.app.delivery.steps.commit import describe_failure
from agentmux.app.delivery.steps.outcome import delivered_lines
from agentmux.app.delivery.steps.summary import asked_lines
from agentmux.app.delivery.steps.ways import possible_ways
from agentmux.app.views.session.timeline import (
    CURRENT,
    DONE,
    FAILED,
    LATER,
    PhaseLine,
    phase_lines,
    phase_seconds,
)
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.names.status_labels import Colour
from agentmux.core.names.statuses import BUSY
from agentmux.core.pipeline.artifacts import TEXT_MAX, summary_path
from agentmux.core.pipeline.beginnings import beginning_choices
from agentmux.errors import AgentmuxError
from agentmux.web.pages import markup

if TYPE_CHECKING:
    from markupsafe import Markup

    from agentmux.app.views.session.session_view import SeatView, SessionView
    from agentmux.web.pages.reading import PlacedSession

MARK_COLOURS: Final[Mapping[str, str]] = {
    DONE: Colour.GREEN.value,
    CURRENT: "here",
    LATER: Colour.DIM.value,
    FAILED: Colour.RED.value,
}
"""The CSS class for the colour of a phase, by the mark of the phase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingDecision:
    """The decision that a session is waiting for, with all that its form shows.

    Attributes:
        asked: What the user asked for when the result was shown before; empty if nothing.
        summary: The summary of the work, as HTML; empty if there is none.
        judged: The outcomes of the checks, and the verdicts of the reviewers.
        changes: How much each file changed; the last line has the total.
        begins: The phases in which the next cycle may begin, as pairs of name and description. The
            smallest change comes first: the phase after which the fewest others run.
        has_conflict: Whether changes can be requested without a text, because the result could not
            be merged.
        does: What an approval does, worded to follow "to"; empty if it is not possible now.
        lines: The preview of what an approval does, without the lines of ``judged``.
        digest: The digest of the result that is shown; empty if it cannot be computed.
        obstacle: Why the result cannot be approved now; empty if it can.
        way: How an approval delivers the result by default: ``keep``, ``merge``, ``push`` or
            ``pr``; empty if the result cannot be approved.
        ways: All possible deliveries, as pairs of such a word and a description; empty if the
            result cannot be approved.
    """

    asked: tuple[str, ...]
    summary: Markup | str
    judged: tuple[str, ...]
    changes: tuple[str, ...]
    begins: tuple[tuple[str, str], ...]
    has_conflict: bool
    does: str = ""
    lines: tuple[str, ...] = ()
    digest: str = ""
    obstacle: str = ""
    way: str = ""
    ways: tuple[tuple[str, str], ...] = ()


def phases(loaded: PlacedSession, view: SessionView, now: datetime) -> Iterator[PhaseLine]:
    """Yield the phases of a session in their order, with the time spent in each until ``now``.

    ``view`` is what is known about the session; its orchestrator tells whether time still passes.
    """
    runs = view.orchestrator is not None
    spent_s = phase_seconds(loaded.files, loaded.state, runs=runs, now=now)
    yield from phase_lines(loaded.state, spent_s, runs=runs)


def decision(loaded: PlacedSession) -> PendingDecision:
    """Return the decision that a session is waiting for, as of now; runs git, so it may block.

    Call it only for a session that waits for one.
    """
    world, files, state = loaded.world, loaded.files, loaded.state
    asked = question_or_obstacle(world, files, state)
    choice = PendingDecision(
        asked=tuple(asked_lines(files, state)),
        summary=summary(loaded),
        judged=(*check_lines(world, files, state), *verdict_lines(state)),
        changes=tuple(stat_lines(world, files, state)),
        begins=beginning_choices(state),
        has_conflict=has_conflict(state),
    )
    if isinstance(asked, str):
        return replace(choice, digest=digest_now(world, files, state), obstacle=asked)
    return replace(
        choice,
        does=asked.effect,
        lines=tuple(each for each in asked.outcome if each not in choice.judged),
        digest=asked.approval.digest,
        way=asked.approval.then,
        ways=tuple(possible_ways(world, state)),
    )


def delivery_lines(loaded: PlacedSession) -> tuple[str, ...]:
    """Return lines that say where the result of a done session is, and how to get it.

    If that cannot be found out, the only line says why.
    """
    try:
        return delivered_lines(loaded.world, loaded.state)
    except (AgentmuxError, OSError) as error:
        return (describe_failure(error),)


def worked_last(seats: Sequence[SeatView]) -> SeatView | None:
    """Return the seat whose agent works, else the one whose status changed last.

    Of several agents that work, it is the one that has begun last. None if there are no seats.
    """

    def rest(seat: SeatView) -> tuple[bool, float]:
        return seat.status != BUSY, math.inf if seat.age_s is None else seat.age_s

    return min(seats, key=rest, default=None)


def summary(loaded: PlacedSession) -> Markup | str:
    """Return the session's summary of the work, as HTML; empty if there is none."""
    data, _ = loaded.files.read_artifact(summary_path(loaded.state), TEXT_MAX)
    return markup.markdown(data.decode("utf-8", "replace")) if data else ""
