"""The seats that a session needs now, for its phase and for research that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import BASE, CHECK, SETUP, ResearchKind, researcher
from agentmux.core.names.statuses import DISPATCHED, LEFT
from agentmux.core.pipeline.check_phase import check_seat, next_command
from agentmux.core.pipeline.checks.base_run import base_seat, is_base_open, next_on_base, next_step
from agentmux.core.pipeline.kinds import KINDS
from agentmux.core.pipeline.registry import pipeline_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A piece of work for one seat.

    ``subplan`` is the index of a coder's sub-plan, ``topic`` the topic of a researcher, or the name
    of the setup's step or of a check's command.
    """

    seat: str
    role: str
    subplan: int | None = None
    topic: str = ""

    @property
    def topic_folder(self) -> str:
        """The folder of a researcher's topic."""
        return layout.research(self.role.partition("-")[0], self.topic)


def find_work(state: SessionState) -> tuple[Work, ...]:
    """Return the work to be done now: the next step of an unfinished setup, else that of agents.

    With that of agents comes the next command of a check, and that of the run on the base. Empty
    once the result is approved, and in a session that is done or has failed.
    """
    if is_setting_up(state):
        return _setup_work(state) if state.phase in pipeline_of(state) else ()
    if not _is_open(state):
        return ()
    return (*agents_work(state), *_check_work(state), *_base_work(state))


def agents_work(state: SessionState) -> tuple[Work, ...]:
    """Return the work of agents for the session's phase, and the research that was asked for.

    A setup that is not finished has to come before it.
    """
    return (*_phase_work(state), *_research_work(state)) if _is_open(state) else ()


def _is_open(state: SessionState) -> bool:
    return state.phase in pipeline_of(state) and state.approval is None


def is_setting_up(state: SessionState) -> bool:
    """Whether the session's worktree still has to be prepared for its agents."""
    return state.setup is not None and not state.setup.finished


def _setup_work(state: SessionState) -> tuple[Work, ...]:
    setup = state.setup
    if setup is None or setup.done >= len(setup.steps):
        return ()
    return (Work(seat=SETUP, role=SETUP, topic=str(setup.steps[setup.done].get("name", ""))),)


def _phase_work(state: SessionState) -> Iterator[Work]:
    here = pipeline_of(state)[state.phase]
    for role, index in KINDS[here.kind].seats(state, here):
        yield Work(seat=role if index is None else f"{role}-{index}", role=role, subplan=index)


def _check_work(state: SessionState) -> Iterator[Work]:
    """Yield the next command of a check; none while others run on the base."""
    following = None if is_base_open(state) else next_command(state, state.phase)
    if following is not None:
        yield Work(seat=check_seat(following.name), role=CHECK, topic=following.name)


def _base_work(state: SessionState) -> Iterator[Work]:
    """Yield what runs on the base beside the agents: the next step of its setup, or command."""
    step, command = next_step(state), next_on_base(state)
    if step is not None:
        yield Work(seat=BASE, role=BASE, topic=step.name)
    elif command is not None:
        yield Work(seat=base_seat(command.name), role=BASE, topic=command.name)


def _research_work(state: SessionState) -> Iterator[Work]:
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == DISPATCHED:
                yield _research(kind, topic)


def _research(kind: ResearchKind, topic: str) -> Work:
    role = researcher(kind)
    return Work(seat=f"{role}-{topic}", role=role, topic=topic)


def is_under_way(state: SessionState, kind: ResearchKind, topic: str) -> bool:
    """Whether the research was asked for, is not done, and its researcher has not left."""
    seat = state.seats.get(_research(kind, topic).seat)
    return state.tasks(kind).get(topic) == DISPATCHED and (seat is None or seat.status not in LEFT)
