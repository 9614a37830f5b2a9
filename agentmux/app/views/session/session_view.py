"""The views of a session and of its seats: what commands and user interfaces show of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentmux.app.views.plain_fields import mapping
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.phase import RESEARCHERS
from agentmux.core.names.status_labels import SessionStatus, StatusGroup, status_group
from agentmux.core.names.statuses import BROKEN, ENDED_STATUSES

if TYPE_CHECKING:
    from agentmux.core.codec.records import Json

FEATURE_NAME: Final = "feature"
"""The name of the default pipeline: assumed for a session whose state records none."""

ORCHESTRATOR_GONE: Final = "its orchestrator is gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatView:
    """What ``status`` shows of one seat.

    Attributes:
        seat: The name of the seat, such as ``coder-2``.
        role: The seat's role; empty if it waits for its first launch.
        agent: The name of the seat's agent.
        mode: How it was launched: ``native`` (with its earlier conversation), ``fresh`` (with a new
            one), ``shell`` (a shell for a person) or ``screen`` (only its last screen); ``-`` if it
            waits for its first launch.
        reason: Why it was launched in this mode; empty if it waits for its first launch.
        status: What the seat's agent does, or why it is gone: a word of `core.names.statuses`.
        source: Where the status comes from: ``screen``, ``journal`` or ``exit record``.
        age_s: How long the seat has had this status; None if unknown.
        attempt: 1, then +1 for each relaunch of the same work.
        prompt_bytes: The size of the prompt that was sent.
        fresh_prompt_bytes: The size of the prompt that a fresh start would have sent.
        resets: When the agent's usage limit ends, in the agent's words; None if there is no limit,
            or its end is unknown.
        trouble: The agent's last message about its service, such as an error; None if there is
            none.
        unsent: Why the prompt that has to be typed has not reached the agent; None if it has. Not
            in JSON, where ``problems`` says it.
        parked_until: When the seat will be woken if it waits for the end of its usage limit (UTC,
            ISO 8601); else None.
        screen: The ``digest`` and ``captured_at`` of its last screen; None if there is no screen,
            or if it was not looked up (see `with_screens`).
        label: What the seat does, in words; not in JSON.
        model: The model of the seat's agent; empty if unknown; not in JSON.
        asks: What the agent asks its user; empty if nothing, or if that is unknown; not in JSON.
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
    asks: str = ""

    @property
    def has_gone(self) -> bool:
        """Whether the seat's agent ended without handing in its work and will not be relaunched."""
        return self.status in ENDED_STATUSES

    @property
    def holds_up(self) -> bool:
        """Whether the phase waits for this seat until the user acts.

        True if the agent left without handing in its work, or if a command of a check could not
        run. False for a researcher whose agent left: no phase waits for researchers.
        """
        return self.status == BROKEN or (self.has_gone and self.role not in RESEARCHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What ``status`` and ``list`` show of one session.

    Attributes:
        session: The name of the session's directory.
        path: That directory: relative to the project if it is inside, else absolute.
        feature: The feature request on one line, cut to its beginning.
        phase: The current phase; None if the state cannot be read.
        state_source: Where the state was read: ``state.json``, ``backup``, ``journal`` or ``none``.
        status: The session's status.
        cycle: The number of the cycle (one pass through the pipeline), from 1.
        review_iteration: How many fixes this cycle has had, including one in progress.
        review_outcome: What the checks and reviews have found together: ``passed``, or ``capped``
            (not passed, and no more fixes are made); None while that is open.
        live: Whether there is a tmux session with its uuid or its name (which may belong to another
            session or a copy), or its tmux server runs without its socket; None if that server does
            not answer.
        because: The reason for ``live``, in words.
        copy_of: The directory of the session of which this directory is a copy, if that one is
            live, or if this one cannot go on while that one exists; else None.
        orchestrator: The pid of the session's orchestrator; None if none runs, or its pid is
            unknown.
        tmux_session: The name of its tmux session.
        tmux_socket: The path of its tmux server's socket; empty if the state records none.
        branch: The branch that gets the session's result; None if HEAD is detached, or outside of
            git.
        worktree: The top of the session's own worktree; None if it works in the project's checkout.
        base: The ``branch`` and ``commit`` from which its worktree was created; None if it works in
            the project's checkout.
        issue: The ``url``, ``number`` and ``title`` of the issue that it is about; None if there is
            none.
        request: The ``url`` and ``number`` of the pull or merge request for its result; None if
            there is none.
        decision: Whether the session waits for the user to approve or to request changes. In JSON:
            the ``phase``, ``cycle`` and ``digest`` of what is to be decided; null if it does not
            wait.
        commit: The commit made by the approval; None before it, and if nothing had to be committed.
        seats: The session's seats.
        interruption: The ``cause``, ``seat``, ``phase`` and ``at`` of what interrupted the session;
            None if nothing did.
        updated_at: When the session last changed: UTC, ISO 8601.
        age_s: The seconds since then.
        problems: What is wrong, for people, one sentence each.
        warnings: What the user should know before deciding, one sentence each.
        moved: The ``to``, ``digest`` and ``at`` of its export; None if it was not exported.
        arrived: The ``host``, ``session`` and ``at`` of its import; None if it began here.
        delivery: How the approved result is delivered, with the fields of `Delivery`: ``id``,
            ``then`` and ``steps``; None before the approval.
        checks: For each check that began, what its commands have shown, as `verified_fields`
            returns it; see docs/reference/checks.md.
        digest: The digest of what is to be decided; empty if it was not looked up (`with_digest`).
        pipeline: The name of its pipeline.
        outdated: Whether its orchestrator runs another version of AgentMux; not in JSON.
        branch_gone: Whether the session is done and its branch no longer exists; set by
            `with_branch`; not in JSON.
        away: Whether its worktree is missing or half made; not in JSON, where ``problems`` says it.
        rename: The command that renames a tmux session of somebody else's, which has its name and
            is in the way of a resume; empty if there is none; not in JSON.
        label: The status in words; not in JSON.
        summary: The path of the summary of its work, relative to its directory; not in JSON.
        title: The first line of the feature request; not in JSON.
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
    rename: str = ""
    label: str = ""
    summary: str = ""
    title: str = ""

    @property
    def group(self) -> StatusGroup:
        """What the session needs: its user if it waits for a decision, else by its status."""
        return StatusGroup.NEEDS_YOU if self.decision else status_group(self.status)

    @property
    def is_other_pipeline(self) -> bool:
        """Whether the session runs another pipeline than `feature`."""
        return self.pipeline != FEATURE_NAME

    @property
    def has_lost_orchestrator(self) -> bool:
        """Whether the session still has panes, but its orchestrator is gone."""
        return ORCHESTRATOR_GONE in self.problems

    def _decision(self) -> dict[str, object]:
        return {"phase": self.phase, "cycle": self.cycle, "digest": self.digest or None}

    def as_json(self) -> dict[str, Any]:
        """Return the fields of this view for a JSON answer.

        Its keys are the names of the attributes, except those that the class calls "not in JSON"
        and ``digest``, which is in ``decision``.
        """
        fields: dict[str, Any] = _shown_fields(self)
        fields["seats"] = [_shown_fields(seat) for seat in self.seats]
        fields["decision"] = self._decision() if self.decision else None
        fields["problems"] = list(self.problems)
        fields["warnings"] = list(self.warnings)
        fields["checks"] = [dict(each) for each in self.checks]
        fields["base"] = dict(self.base) if self.base else None
        fields["delivery"] = delivery_as_json(self.delivery)
        fields["issue"] = dict(self.issue) if self.issue else None
        fields["request"] = dict(self.request) if self.request else None
        fields["moved"] = dict(self.moved) if self.moved else None
        fields["arrived"] = dict(self.arrived) if self.arrived else None
        fields["interruption"] = dict(self.interruption) if self.interruption else None
        return fields


_NOT_SHOWN: Final = frozenset(
    {"model", "label", "digest", "outdated", "summary", "title", "unsent", "branch_gone", "away"}
    | {"asks", "rename"}
)


def _shown_fields(view: SeatView | SessionView) -> dict[str, object]:
    return {name: getattr(view, name) for name in view.__slots__ if name not in _NOT_SHOWN}


def delivery_as_json(delivery: Json | None) -> dict[str, object] | None:
    """Return a delivery, as ``state.json`` has it, for a JSON answer; None if there is none.

    Its keys are ``id`` (of the approval), ``then`` (where the result goes) and ``steps``, a mapping
    by the step's name. The fields in the ``record`` of each step are put beside the step's
    ``status`` and ``reason``.
    """
    if delivery is None:
        return None
    steps = {}
    for name in mapping(delivery, "steps"):
        step = mapping(mapping(delivery, "steps"), name)
        kept = {key: value for key, value in step.items() if key != "record"}
        steps[name] = {**mapping(step, "record"), **kept}
    return {**delivery, "steps": steps}
