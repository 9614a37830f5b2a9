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
from agentmux.app.views.session_words import failed_commands, label
from agentmux.app.views.status import session_view
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.config.settings import Policy
from agentmux.core.conversation.launch_policy import LaunchPolicy, policy_of
from agentmux.core.names.conversations import (
    SeatChoice,
    conversation,
    how_it_comes_back,
    how_it_is_started,
    how_it_would_start,
    needs_reason,
    seat_choices,
)
from agentmux.core.names.status_labels import NATIVE_MARK, Safety, SessionStatus
from agentmux.core.names.statuses import UNKNOWN, UNREADABLE
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agentmux.app.session.search.lookup import Liveness, SessionEntry
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.app.world import Site, World
    from agentmux.core.launch.plan import LaunchPlan

LIVE: Final = "live"
MISSING: Final = "missing"
_WAITS: Final = "each pane waits there for your choice (`resume.policy` is `confirm`)"


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
        digests: By each choice that the user has for the seat, the digest of the launch to which
            they agree with it (`LaunchPlan.digest`); empty in a live session.
    """

    seat: str
    agent: str
    mode: str
    reason: str
    digests: Mapping[SeatChoice, str] = field(default_factory=dict)

    @property
    def is_native(self) -> bool:
        """Whether the seat's conversation is resumed."""
        return self.mode == "native"

    def mode_of(self, choice: SeatChoice) -> str:
        """Return how the seat is started after the user's choice: a mode, or ``stopped``."""
        return self.mode if choice is SeatChoice.PLANNED else choice

    def describe(self, choice: SeatChoice = SeatChoice.PLANNED, *, key: str = "") -> str:
        """Return in words who plays the seat, and how it is started after the user's choice.

        If ``key`` takes the next choice, and there are others, they are listed in brackets, in the
        order in which it takes them: ``claude: its conversation comes back (1: new, shell)``.
        """
        words = how_it_is_started(choice, self.mode, self.reason)
        others = ", ".join(conversation(self.mode_of(each)) for each in self._after(choice))
        if key and others:
            words = words.replace(offer := self.offer(choice), f"{offer} ({key}: {others})", 1)
        return f"{self.agent}: {words}"

    def _after(self, choice: SeatChoice) -> tuple[SeatChoice, ...]:
        """Return the other choices in the order in which a key takes them."""
        offered = tuple(self.digests)
        at = offered.index(choice) if choice in offered else len(offered)
        return (*offered[at + 1 :], *offered[:at])

    def offer(self, choice: SeatChoice) -> str:
        """Return in words how the choice would start the seat, for a list of its choices."""
        return how_it_would_start(choice, self.mode)


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

    def agree(self, choices: Mapping[str, SeatChoice]) -> LaunchPolicy:
        """Return the launch policy of a resume to which a person agreed after seeing this outlook.

        Args:
            choices: What the person chose, by seat; a missing seat is started as planned.
        """
        chosen = {each.seat: choices.get(each.seat, SeatChoice.PLANNED) for each in self.seats}
        agreed = {each.seat: each.digests.get(chosen[each.seat], "") for each in self.seats}
        return policy_of(chosen, agreed)

    @property
    def is_live(self) -> bool:
        """Whether the session is live and can be attached to."""
        return self.kind == LIVE and not self.refused

    @property
    def safety(self) -> Safety:
        """Whether the session can be resumed, and if so, whether all conversations come back.

        `BLOCKED` if it cannot be resumed, also because it is live; `CHOICE` if a seat that had a
        conversation does not get it back; else `SAFE`.
        """
        if self.kind or self.refused:
            return Safety.BLOCKED
        anew = any(needs_reason(each.mode, each.reason) for each in self.seats)
        return Safety.CHOICE if anew else Safety.SAFE

    @property
    def warning(self) -> str:
        """The reason for `safety` in words; empty if the resume is safe, or the session is live."""
        seats = (each for each in self.seats if needs_reason(each.mode, each.reason))
        anew = (f"{each.seat}: {how_it_comes_back(each.mode, each.reason)}" for each in seats)
        return self.refused or next(anew, "")


def seat_lines(
    seats: Iterable[tuple[SeatOutlook, SeatChoice]], *, numbered: bool = True
) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of a line for each seat, with what the user chose for it.

    The parts are a mark, the seat's name, and words for how it is started. The mark is
    `NATIVE_MARK` if the conversation comes back, else a space. If ``numbered``, the seat's number,
    which is a key to press, and a space come before the mark; after the first nine seats, a space
    replaces the number. Where there is a number, the words list the other choices.
    """
    for number, (each, choice) in enumerate(seats, start=1):
        key = str(number) * (numbered and number < 10)
        mark = NATIVE_MARK if each.mode_of(choice) == "native" else " "
        yield (
            f"{key or ' '} {mark}" if numbered else mark,
            each.seat,
            each.describe(choice, key=key),
        )


_KINDS: Final = {"session_live": LIVE, "locked": "locked", "twin": "copy"}


def outlook(
    world: World,
    entry: SessionEntry,
    liveness: Liveness,
    read: ReadFile,
    *,
    is_attended: bool = True,
) -> Outlook:
    """Return what a resume of the session would do; start and write nothing.

    A session that cannot be read or resumed raises no error: the result says why.

    Args:
        world: The outside world.
        entry: The session.
        liveness: Whether its tmux session and its orchestrator run.
        read: Takes a snapshot's path and a maximal size in bytes. Returns its content; None if
            there is no such file, or if it is larger.
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
        refused, kind = lacks, MISSING
    clear = plan_outlook(world, plan, read)
    if refused is None:
        return clear
    return replace(clear, refused=_short(refused), kind=kind, hints=refused.hints)


def plan_outlook(world: World, plan: ResumePlan, read: ReadFile) -> Outlook:
    """Return what a resume by ``plan`` would do, for a session that nothing keeps from resuming.

    Args:
        world: The outside world.
        plan: The plan of the resume.
        read: Takes a snapshot's path and a maximal size in bytes. Returns its content; None if
            there is no such file, or if it is larger.
    """
    # The seats that would be resumed come first, then earlier ones.
    seats = dict.fromkeys([*(each.work.seat for each in plan.panes), *plan.state.agents])
    waits = world.settings.resume.policy is Policy.CONFIRM
    return Outlook(
        name=plan.path.name,
        phase=plan.phase,
        because=plan.because,
        seats=tuple(_seat(each, chooses=not waits) for each in plan.panes),
        screens=readable_screens(plan.path, seats, read),
        warnings=(*((_WAITS,) if waits else ()), *plan.warnings),
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
    return replace(
        live_outlook(view),
        hints=hints[:1],
        screens=readable_screens(entry.path, (each.seat for each in view.seats), read),
        left_alone=liveness.is_left_alone and view.status == SessionStatus.INTERRUPTED,
    )


def live_outlook(view: SessionView) -> Outlook:
    """Return the outlook of a live session, without its screens."""
    return Outlook(
        name=view.session,
        phase=view.phase,
        because=label(view),
        kind=LIVE,
        seats=tuple(
            SeatOutlook(seat=each.seat, agent=each.agent, mode=each.label, reason="")
            for each in view.seats
        ),
        warnings=(*failed_commands(view), *view.problems),
    )


def _refusal(
    world: Site, entry: SessionEntry, liveness: Liveness
) -> tuple[AgentmuxError | None, str]:
    try:
        block = find_obstacle(world, entry, liveness)
    except AgentmuxError as error:
        return error, UNKNOWN
    return block, _KINDS.get(block.reason, block.reason) if block is not None else ""


def _seat(plan: LaunchPlan, *, chooses: bool) -> SeatOutlook:
    """Return how a seat would be started; ``chooses`` says whether the user can choose now."""
    choices = seat_choices(plan.mode) if chooses else (SeatChoice.PLANNED,)
    fresh = {SeatChoice.FRESH: plan.as_fresh().digest}
    return SeatOutlook(
        seat=plan.work.seat,
        agent=plan.player.name,
        mode=plan.mode,
        reason=plan.why,
        digests={choice: fresh.get(choice, plan.digest) for choice in choices},
    )


def _short(error: AgentmuxError) -> str:
    """Return why a resume is refused, as one short row."""
    return error.brief if isinstance(error, LackingProgramError) else error.message
