"""The state of an imported session on the importing machine.

Everything that decides which programs run, or what happens without the user, comes from this
machine: command lines, setup, checks, the pipeline, and whether a result needs an approval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.journal.results import BaseChecks
from agentmux.core.journal.state import Base, Interruption, SessionState, Setup
from agentmux.core.moving.manifest import is_commit
from agentmux.core.moving.redaction import without_conversation
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import working_phase

_SEAT: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_INSIDE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*){0,7}")
_NUMBER_MAX: Final = 10_000
CHECKPOINTS_MAX: Final = 5000
"""The maximum number of work-tree checkpoints of a session that can be moved.

Each is a git ref, and the time to read them grows with the square of their number: this many take
some seconds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportValues:
    """The values that an imported session gets on this machine.

    Attributes:
        name: The name of the session's directory.
        session_id: The session's uuid; a copy gets a new one.
        host: The name of the machine that the session was exported from.
        worktree: The absolute path of the top-level directory of the session's worktree.
        branch: The short name of the session's branch; None if the session only reviews a commit.
        base: The base of the branch.
        at: The current time (UTC, ISO 8601).
        setup: The setup of the worktree; None if it needs none.
        port_base: The first port that is reserved for the session.
        require_approval: Whether the user has to approve the result.
        commit: Whether the result will be committed.
        agents: The names in this machine's agent registry. Of the agents that the user chose, those
            that are not among them are dropped, together with their models.
    """

    name: str
    session_id: str
    host: str
    worktree: str
    branch: str | None
    base: Base
    at: str
    setup: Setup | None
    port_base: int
    require_approval: bool
    commit: bool
    agents: frozenset[str]


def why_not_exportable(state: SessionState) -> str:
    """Return the first reason, in words, why a session cannot be exported; empty if it can."""
    return next(_reasons_against_export(state), "")


def _reasons_against_export(state: SessionState) -> Iterator[str]:
    if state.phase == Phase.DONE:
        yield "it is done"
    if state.approval is not None:
        yield "its result is approved, and being delivered"
    if state.rewind is not None:
        yield "a rewind of its files was interrupted"
    if state.pending_archive:
        yield "files of an earlier attempt are still to be moved to its history"
    if state.base is None and state.options.base is None:
        yield "it has no commit to begin on"
    if len(state.tree_checkpoints) > CHECKPOINTS_MAX:
        yield too_many(len(state.tree_checkpoints))


def too_many(checkpoints: int) -> str:
    """Return the words for a session that has too many work-tree checkpoints to be moved.

    ``checkpoints`` is their number. The function only makes the text; the caller compares the
    number with `CHECKPOINTS_MAX`.
    """
    return f"it has {checkpoints} work-tree checkpoints, and at most {CHECKPOINTS_MAX} can be moved"


def find_state_fault(state: SessionState) -> str:
    """Return the first fault of a state from an exported file, in words; empty if it has none.

    The file may be hostile: names, paths, commit ids and numbers are checked.
    """
    return next(_find_state_faults(state), "")


def _find_state_faults(state: SessionState) -> Iterator[str]:
    for seat in (*state.seats, *state.agents):
        if not _SEAT.fullmatch(seat):
            yield f"{seat[:60]!r} is no name of a seat"
    for topic in (*state.research_tasks, *state.web_research_tasks):
        if not layout.is_topic(topic):
            yield f"{topic[:60]!r} is no topic of research"
    commits = [each.commit for each in state.tree_checkpoints]
    commits += [each.head for each in state.tree_checkpoints if each.head]
    commits += [state.base.commit] if state.base else []
    commits += [state.options.base] if state.options.base else []
    commits += [state.reviewed.commit, state.reviewed.since] if state.reviewed else []
    if not all(map(is_commit, commits)):
        yield "the id of a commit is not valid"
    if state.change_request is not None and not _INSIDE.fullmatch(state.change_request):
        yield "the path of the change request is not valid"
    if max(state.cycle, state.iteration, state.subplan_count) > _NUMBER_MAX:
        yield "a number is too large"


def imported_state(state: SessionState, landing: ImportValues) -> SessionState:
    """Return the state of an imported session on this machine, where it is stopped.

    It has no seats, parked seats or pending inputs, and no earlier conversation comes back. The
    given state is not changed, and nothing is written.

    Args:
        state: The exported state, already with the pipeline of this machine.
        landing: The values that the session gets on this machine.
    """
    was = state.branch
    saved = tuple(
        replace(each, branch=landing.branch if each.branch == was else each.branch)
        for each in state.tree_checkpoints
    )
    failed = state.interruption if state.phase == Phase.FAILED else None
    stopped = Interruption(
        cause=f"stopped: imported from {landing.host}", phase=working_phase(state), at=landing.at
    )
    return replace(
        state,
        session_id=landing.session_id,
        session_name=layout.tmux_name(landing.name),
        feature_dir=f"{layout.SESSIONS_DIR}/{landing.name}",
        tmux_socket="",
        worktree=landing.worktree,
        worktree_made=bool(saved),
        branch=landing.branch,
        base=landing.base,
        continued=state.continued and landing.branch == was,
        setup=landing.setup,
        port_base=landing.port_base,
        base_checks=_base(state.base_checks),
        tree_checkpoints=saved,
        interruption=failed or stopped,
        seats={},
        agents={
            seat: {**without_conversation(record), "moved_from": landing.host}
            for seat, record in state.agents.items()
        },
        parked={},
        inputs=(),
        delivery=None,
        commit=None,
        approved_tree="",
        approved_back=(),
        moved=None,
        options=replace(
            state.options,
            agents={r: n for r, n in state.options.agents.items() if n in landing.agents},
            models={
                role: model
                for role, model in state.options.models.items()
                if state.options.agents.get(role) in landing.agents
            },
            require_approval=landing.require_approval,
            commit=landing.commit,
        ),
        extra={},
    )


def forgotten_agents(state: SessionState, agents: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the agents that the user chose and this machine lacks, sorted.

    Args:
        state: The state; gives the agents that were chosen at the start.
        agents: The names of the agents in this machine's registry.
    """
    return tuple(sorted({*state.options.agents.values()} - agents))


def _base(base: BaseChecks | None) -> BaseChecks | None:
    """Return the finished results on the base; None if the commands have to run on it here."""
    if base is None or not base.finished:
        return None
    return replace(base, path="", steps=(), made=False, done=0)
