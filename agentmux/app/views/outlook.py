"""What a resume of a session would do, for a person who is about to decide on it; reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.commands.resume.resume import (
    ResumePlan,
    find_lacking_program,
    find_obstacle,
    plan_resume,
)
from agentmux.app.launch.missing_programs import LackingProgramError
from agentmux.app.views.session.last_screens import LastScreen, ReadFile, readable_screens
from agentmux.app.views.status import session_view
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.conversations import how_it_comes_back, needs_reason
from agentmux.core.names.status_labels import Safety, SessionStatus
from agentmux.core.names.statuses import UNKNOWN, UNREADABLE
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import Liveness, SessionEntry
    from agentmux.app.world import Site, World

LIVE: Final = "live"
_MISSING: Final = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatOutlook:
    """How a resume would start one seat; in a live session, what the seat's agent does now.

    Attributes:
        seat: The seat.
        agent: The name of the seat's agent.
        mode: ``native`` (its conversation comes back), ``fresh`` (a new conversation), ``shell``
            (a shell for a person) or ``screen`` (only its last screen). In a live session: the
            status of the agent, as shown to people.
        reason: Why this mode was chosen; empty in a live session.
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
        name: The name of the session's directory.
        phase: The phase in which the session would resume; in a live session, its current phase;
            None if unknown.
        because: Why it would resume in this phase; in a live session, the words for its status.
        refused: Why the session can be neither resumed nor attached to now; empty if it can.
        kind: What prevents a resume, as one word: ``live``, ``locked``, ``unknown``, ``copy``,
            ``unreadable``, ``missing`` (a program), or another reason of a `BlockedError`; empty
            if nothing prevents it.
        hints: What the user can do about the refusal.
        seats: The seats that a resume would start; in a live session, all its seats.
        screens: The last screens of these seats, followed by those of earlier seats.
        warnings: What the user should know before a resume, one sentence each.
        left_alone: Whether the session still has panes, but its orchestrator is gone.
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
    left_alone: bool = False

    @property
    def is_live(self) -> bool:
        """Whether the session is live and can be attached to."""
        return self.kind == LIVE and not self.refused

    @property
    def safety(self) -> Safety:
        """Whether the session can be resumed, and if so, whether all conversations come back."""
        if (self.kind or self.refused) and self.kind != _MISSING:
            return Safety.UNSAFE  # a missing program can be installed, or another agent chosen
        anew = any(needs_reason(each.mode, each.reason) for each in self.seats)
        return Safety.CHOICE if anew else Safety.SAFE

    @property
    def warning(self) -> str:
        """The reason for `safety` in words; empty if the resume is safe."""
        seats = (each for each in self.seats if needs_reason(each.mode, each.reason))
        anew = (f"{each.seat}: {how_it_comes_back(each.mode, each.reason)}" for each in seats)
        return self.refused or next(anew, "")


_KINDS: Final = {"session_live": LIVE, "locked": "locked", "twin": "copy"}


def outlook(
    world: World,
    entry: SessionEntry,
    liveness: Liveness,
    read: ReadFile,
    *,
    is_attended: bool = True,
) -> Outlook:
    """Return what a resume of the session would do.

    A session that cannot be read or resumed raises no error: the result says why.

    Args:
        world: The outside world.
        entry: The session.
        liveness: Whether its tmux session and its orchestrator run.
        read: Reads a snapshot.
        is_attended: Whether a person attends the resume. If not, it is refused if the program of
            an agent is not found.
    """
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
    if (
        refused is None
        and not is_attended
        and (lacks := find_lacking_program(world, plan)) is not None
    ):
        refused, kind = lacks, _MISSING
    # The seats that would be resumed come first, then earlier ones.
    seats = dict.fromkeys([*(each.work.seat for each in plan.panes), *plan.state.agents])
    return Outlook(
        name=entry.name,
        phase=plan.phase,
        because=plan.because,
        refused=_short(refused) if refused is not None else "",
        kind=kind,
        hints=refused.hints if refused is not None else (),
        seats=_seats(plan),
        screens=readable_screens(entry.path, seats, read),
        warnings=plan.warnings,
    )


def _is_own(entry: SessionEntry, liveness: Liveness) -> bool:
    """Return whether the tmux session found is the session's own, and not one of the same name."""
    tmux_session = liveness.tmux
    return tmux_session is not None and tmux_session.uuid in {"", entry.text("session_id")}


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
        left_alone=liveness.is_left_alone and view.status == SessionStatus.INTERRUPTED,
    )


def _refusal(
    world: Site, entry: SessionEntry, liveness: Liveness
) -> tuple[AgentmuxError | None, str]:
    try:
        block = find_obstacle(world, entry, liveness)
    except AgentmuxError as error:
        return error, UNKNOWN
    return block, _KINDS.get(block.reason, block.reason) if block is not None else ""


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


def _short(error: AgentmuxError) -> str:
    """Return why a resume is refused, as one short row."""
    return error.brief if isinstance(error, LackingProgramError) else error.message
