"""What faces show of a session and of its seats, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentmux.app.views.plain_fields import mapping
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.phase import RESEARCHERS
from agentmux.core.names.status_labels import SessionStatus, StatusGroup, status_group
from agentmux.core.names.statuses import BROKEN, LEFT

if TYPE_CHECKING:
    from agentmux.core.codec.records import Json

FEATURE_NAME: Final = "feature"
"""The pipeline of a session that holds none."""

ORCHESTRATOR_GONE: Final = "its orchestrator is gone"


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
        unsent: Why its prompt, which is to be typed, has not arrived; None if it has; not in
            JSON, where ``problems`` says it.
        parked_until: When it is to be woken, if it waits for the end of its usage limit (UTC, ISO
            8601); None for all others.
        screen: ``digest`` and ``captured_at`` of its last screen; None where nobody has looked for
            it, or there is none.
        label: What it does, in words; not in JSON.
        model: The model of its agent; empty where unknown; not in JSON.
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
    unsent: str | None = None
    parked_until: str | None = None
    screen: Json | None = None
    label: str = ""
    model: str = ""

    @property
    def has_gone(self) -> bool:
        """Whether its agent ended without handing in its work, and will not be launched again."""
        return self.status in LEFT

    @property
    def holds_up(self) -> bool:
        """Whether the phase waits for this seat although its agent has left.

        Also whether it waits for the user because a command of a check could not run. False for
        researchers: no phase waits for them.
        """
        return self.status == BROKEN or (self.has_gone and self.role not in RESEARCHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What ``status`` and ``list`` show of one session.

    Attributes:
        path: Relative to the project where it is inside, else absolute.
        phase: None where the state cannot be read.
        pipeline: The name of its pipeline.
        live: None where its tmux server does not answer.
        copy_of: The directory of the live session that this one is a copy of.
        orchestrator: Pid of its orchestrator; None where none runs, or its pid is unknown.
        branch: The branch that its result goes on; None where HEAD is detached, or outside of git.
        worktree: The top of its own worktree; None where it works in the project's checkout.
        base: ``branch`` and ``commit`` that its worktree began on; None without one.
        issue: ``url``, ``number`` and ``title`` of the issue that it is about; None for none.
        request: ``url`` and ``number`` of the request for its result; None for none.
        decision: The session waits for the user to approve or to request changes. In JSON it is
            ``phase``, ``cycle`` and ``digest`` of what is decided on; null if it does not wait.
        digest: The digest of what is decided on; empty where nobody has asked git for it.
        commit: The commit of the approval; None before, and where nothing was to be committed.
        delivery: Where the approved result goes: ``id``, ``then``, ``steps``; None without one.
        interruption: ``cause``, ``seat``, ``phase``, ``at``; None where nothing interrupted it.
        moved: ``to``, ``digest`` and ``at`` of its export; None where it goes on here.
        arrived: ``host``, ``session`` and ``at``: where it comes from; None where it began here.
        checks: What the commands that check the result have shown, by phase; see
            docs/reference/checks.md.
        problems: For people, one sentence each.
        warnings: What the user should know before deciding; one sentence each.
        branch_gone: It is done, and its branch does not exist any more, as `with_branch` has found;
            not in JSON.
        outdated: Its orchestrator is of another version of AgentMux; not in JSON.
        away: Its worktree is not at its place; not in JSON, where ``problems`` says it.
        label: Its status in words; not in JSON.
        summary: The path of the summary of its work, relative to its directory; not in JSON.
        title: The first line of its feature; not in JSON.
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
    moved: Json | None = None
    arrived: Json | None = None
    delivery: Json | None = None
    checks: tuple[Json, ...] = ()
    digest: str = ""
    pipeline: str = FEATURE_NAME
    outdated: bool = False
    branch_gone: bool = False
    away: bool = False
    label: str = ""
    summary: str = ""
    title: str = ""

    @property
    def group(self) -> StatusGroup:
        """What it needs; a session with a decision to make needs its user, also at rest."""
        return StatusGroup.NEEDS_YOU if self.decision else status_group(self.status)

    @property
    def is_other_pipeline(self) -> bool:
        """Whether the session goes through another pipeline than `feature`."""
        return self.pipeline != FEATURE_NAME

    @property
    def has_lost_orchestrator(self) -> bool:
        """Whether the session's panes are there, but no orchestrator drives them."""
        return ORCHESTRATOR_GONE in self.problems

    def _decision(self) -> dict[str, object]:
        return {"phase": self.phase, "cycle": self.cycle, "digest": self.digest or None}

    def as_json(self) -> dict[str, Any]:
        """Return the fields of this view for a JSON answer."""
        fields: dict[str, Any] = _shown_fields(self)
        fields["seats"] = [_shown_fields(seat) for seat in self.seats]
        fields["decision"] = self._decision() if self.decision else None
        fields["problems"] = list(self.problems)
        fields["warnings"] = list(self.warnings)
        fields["checks"] = [dict(each) for each in self.checks]
        fields["base"] = dict(self.base) if self.base else None
        fields["delivery"] = flat(self.delivery)
        fields["issue"] = dict(self.issue) if self.issue else None
        fields["request"] = dict(self.request) if self.request else None
        fields["moved"] = dict(self.moved) if self.moved else None
        fields["arrived"] = dict(self.arrived) if self.arrived else None
        fields["interruption"] = dict(self.interruption) if self.interruption else None
        return fields


_NOT_SHOWN: Final = frozenset(
    {"model", "label", "digest", "outdated", "summary", "title", "unsent", "branch_gone", "away"}
)


def _shown_fields(view: SeatView | SessionView) -> dict[str, object]:
    return {name: getattr(view, name) for name in view.__slots__ if name not in _NOT_SHOWN}


def flat(delivery: Json | None) -> dict[str, object] | None:
    """Return a delivery, as ``state.json`` has it, for a JSON answer; None without one.

    What was recorded of each step stands beside its status.
    """
    if delivery is None:
        return None
    steps = {}
    for name in mapping(delivery, "steps"):
        step = mapping(mapping(delivery, "steps"), name)
        kept = {key: value for key, value in step.items() if key != "record"}
        steps[name] = {**mapping(step, "record"), **kept}
    return {**delivery, "steps": steps}
