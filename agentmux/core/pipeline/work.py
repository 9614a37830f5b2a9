"""The work that a session has to do now: for its phase, its research, and its commands."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import BASE, CHECK, SETUP, ResearchKind, researcher
from agentmux.core.names.statuses import DISPATCHED, ENDED_STATUSES
from agentmux.core.pipeline.check_phase import check_seat, next_command
from agentmux.core.pipeline.checks.base_run import base_seat, is_base_open, next_on_base, next_step
from agentmux.core.pipeline.kinds import KINDS
from agentmux.core.pipeline.registry import pipeline_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A piece of work for one seat: what an agent is launched for, or a command that is run.

    Attributes:
        seat: The name of the seat.
        role: The role of the seat; for a command it is ``setup``, ``check`` or ``base``.
        subplan: The number of a coder's sub-plan; None if the work is not one sub-plan.
        topic: The topic of a researcher, or the name of the setup step or check command to run;
            empty for other work.
    """

    seat: str
    role: str
    subplan: int | None = None
    topic: str = ""

    @property
    def topic_folder(self) -> str:
        """The path of the folder of a researcher's topic, relative to the session's directory.

        For the work of other seats it means nothing.
        """
        return layout.research(self.role.partition("-")[0], self.topic)


def find_work(state: SessionState) -> tuple[Work, ...]:
    """Return the work to be done now, whether or not it has been begun.

    While the setup is not finished, this is only its next step. After that, it is the work of
    agents, the next command of the current check, and the next setup step or command on the base
    (the commit that the session began on). Empty after the result is approved, or in a session that
    is done or has failed.
    """
    if is_setting_up(state):
        return _setup_work(state) if state.phase in pipeline_of(state) else ()
    if not _is_open(state):
        return ()
    return (*agents_work(state), *_check_work(state), *_base_work(state))


def agents_work(state: SessionState) -> tuple[Work, ...]:
    """Return the work of agents for the session's phase, and the research that is not done.

    Agents have to wait for the setup to finish (`is_setting_up`); this is not considered here.
    """
    return (*_phase_work(state), *_research_work(state)) if _is_open(state) else ()


def _is_open(state: SessionState) -> bool:
    return state.phase in pipeline_of(state) and state.approval is None


def is_setting_up(state: SessionState) -> bool:
    """Whether the setup of the session's worktree is not finished; agents wait for it."""
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
    """Yield the next command of the current check; none while commands run on the base."""
    following = None if is_base_open(state) else next_command(state, state.phase)
    if following is not None:
        yield Work(seat=check_seat(following.name), role=CHECK, topic=following.name)


def _base_work(state: SessionState) -> Iterator[Work]:
    """Yield the next setup step or command on the base, which runs while agents work."""
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
    """Whether the research on ``topic`` was asked for and is still to be expected.

    It is not if it is done, or if its researcher finished, or was ended by the user, without
    handing it in.
    """
    seat = state.seats.get(_research(kind, topic).seat)
    return state.tasks(kind).get(topic) == DISPATCHED and (
        seat is None or seat.status not in ENDED_STATUSES
    )
