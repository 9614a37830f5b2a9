"""What a person wants to know about a session before resuming it; reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.commands.resume import ResumePlan, blocked, plan_resume
from agentmux.app.views.last_screens import LastScreen, ReadFile, readable_screens
from agentmux.app.views.status import session_view
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.statuses import UNKNOWN, UNREADABLE
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.session.lookup import Liveness, SessionEntry
    from agentmux.app.world import Site, World

LIVE: Final = "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatOutlook:
    """How one seat would be resumed; in a live session, what its agent does now.

    Attributes:
        mode: ``native``, ``fresh``, ``shell`` (a shell for a person) or ``screen`` (just its last
            screen); in a live session the agent's status.
    """

    seat: str
    agent: str
    mode: str
    reason: str

    @property
    def is_native(self) -> bool:
        """Whether the seat's conversation is resumed."""
        return self.mode == "native"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a resume of one session would do; a live session can be attached to instead.

    Attributes:
        phase: The phase in which work would go on; in a live session, the present one; None where
            unknown.
        refused: Why the session can neither be resumed nor attached to now; empty when it can.
        kind: What prevents a resume, as one word: ``live``, ``locked``, ``unknown``, ``copy``,
            ``unreadable``, or another reason of a `BlockedError`; empty where nothing does.
        hints: What to do about the refusal.
        screens: Screens of the seats that would be resumed, then of earlier seats.
    """

    name: str
    phase: str | None = None
    because: str = ""
    refused: str = ""
    kind: str = ""
    hints: tuple[str, ...] = ()
    seats: tuple[SeatOutlook, ...] = ()
    screens: tuple[LastScreen, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the session is live, and can be attached to."""
        return self.kind == LIVE and not self.refused


_KINDS: Final = {"session_live": LIVE, "locked": "locked", "twin": "copy"}


def outlook(world: World, entry: SessionEntry, liveness: Liveness, read: ReadFile) -> Outlook:
    """Return what a resume of the session would do; never raises for a broken session."""
    if entry.problem is not None:
        problem = entry.problem
        return Outlook(
            name=entry.name, refused=problem.message, kind=UNREADABLE, hints=problem.hints
        )
    refused, kind = _refusal(world, entry, liveness)
    if kind == LIVE and _is_own(entry, liveness):
        return _attachable(world, entry, liveness, refused, read)
    try:
        plan = plan_resume(world, world.files(entry.path))
    except AgentmuxError as error:
        return Outlook(name=entry.name, refused=error.message, kind=UNREADABLE, hints=error.hints)
    if refused is None and plan.obstacle is not None:
        refused, kind = plan.obstacle, plan.obstacle.reason
    # First the seats that would be resumed, then earlier ones.
    seats = dict.fromkeys([*(each.work.seat for each in plan.panes), *plan.state.agents])
    return Outlook(
        name=entry.name,
        phase=plan.phase,
        because=_because(plan),
        refused=refused.message if refused is not None else "",
        kind=kind,
        hints=refused.hints if refused is not None else (),
        seats=_seats(plan),
        screens=readable_screens(entry.path, seats, read),
        warnings=plan.warnings,
    )


def _is_own(entry: SessionEntry, liveness: Liveness) -> bool:
    """Return whether the tmux session belongs to the session, rather than only having its name."""
    found = liveness.tmux
    return found is not None and found.uuid in {"", entry.text("session_id")}


def _attachable(
    site: Site,
    entry: SessionEntry,
    liveness: Liveness,
    block: AgentmuxError | None,
    read: ReadFile,
) -> Outlook:
    """Return the outlook of a live session."""
    noted = site.folders.runtime(entry.path)
    view = session_view(entry, liveness, noted, project=site.project, now=site.now())
    hints = block.hints if block is not None and not liveness.locked else ()
    return Outlook(
        name=entry.name,
        phase=entry.phase,
        because=view.label,
        kind=LIVE,
        hints=hints[:1],
        seats=tuple(
            SeatOutlook(seat=each.seat, agent=each.agent, mode=each.label, reason="")
            for each in view.seats
        ),
        screens=readable_screens(entry.path, (each.seat for each in view.seats), read),
        warnings=view.problems,
    )


def _refusal(
    world: Site, entry: SessionEntry, liveness: Liveness
) -> tuple[AgentmuxError | None, str]:
    try:
        block = blocked(world, entry, liveness)
    except AgentmuxError as error:
        return error, UNKNOWN
    return block, _KINDS.get(block.reason, block.reason) if block is not None else ""


def _because(plan: ResumePlan) -> str:
    """Say in words why the session goes on in this phase, and what is missing there.

    That the phase is the one in which it stopped is not said.
    """
    last = plan.inference.evidence[-1]
    same = last.phase == plan.inference.phase
    found = last.because if same else f"{last.phase}: {last.because}"
    if plan.phase == plan.state_phase:
        return found
    return f"{plan.inference.because}; {found}"


def _seats(plan: ResumePlan) -> tuple[SeatOutlook, ...]:
    return tuple(
        SeatOutlook(
            seat=each.work.seat,
            agent=each.player.name,
            mode=each.mode,
            reason=each.why,
        )
        for each in plan.panes
    )
