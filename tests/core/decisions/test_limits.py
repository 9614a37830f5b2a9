"""When parked seats are woken, and in which order."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.codec.records import to_fields
from agentmux.core.decisions.limits import (
    SETTLE_S,
    is_new_reset,
    is_parked,
    next_wake,
    parked_until,
    to_wake,
)
from agentmux.core.decisions.next_actions import Facts, Launch, LaunchFact, Tell, Wake, next_actions
from agentmux.core.journal.events import (
    AgentExited,
    AgentParked,
    AgentWoken,
    ArtifactsArchived,
    CodeResearchDispatched,
    ResearchDone,
    Resumed,
)
from agentmux.core.journal.state import Parked
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.on_disk import state_from_disk
from tests.core.builders import Session, at
from tests.core.decisions.test_next_actions import RUNS, actions, ready

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


def text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def after(seconds: float) -> str:
    return text(NOW + timedelta(seconds=seconds))


def one(until_s: float = 0, *, agent: str = "claude", woken: str = "") -> Parked:
    return Parked(launch="l", agent=agent, home="/h", until=after(until_s), woken=woken)


# -- until when -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reset_s", "wait_s"),
    [(None, 1800), (600, 600), (0, 60), (-600, 60), (-601, 1800), (-86_400, 1800)],
)
def test_an_agent_waits_for_the_time_that_it_says(reset_s: float | None, wait_s: float) -> None:
    reset = None if reset_s is None else NOW + timedelta(seconds=reset_s)
    found = parked_until(reset, now=NOW, retry_s=1800)
    assert (found - NOW).total_seconds() == wait_s


@given(st.none() | st.integers(-100_000, 100_000), st.floats(0.001, 10_000))
def test_nobody_is_parked_until_the_past(reset_s: int | None, retry_s: float) -> None:
    reset = None if reset_s is None else NOW + timedelta(seconds=reset_s)
    assert parked_until(reset, now=NOW, retry_s=retry_s) > NOW


@pytest.mark.parametrize(
    ("said", "reset_s", "later"),
    [
        ("5pm", 7200, True),
        ("noon", 7200, False),  # the words that are known
        ("", None, False),
        ("soon", None, False),
        ("12:00 (UTC)", 600, False),  # the known time, in other words
        ("11am", 0, False),  # it is over by these words
        ("11am", -600, False),
        ("12:05", 300, True),  # earlier than it said before
    ],
)
def test_only_another_time_to_come_is_news_of_a_parked_agent(
    said: str, reset_s: float | None, later: bool
) -> None:
    parked = replace(one(600), said="noon")
    reset = None if reset_s is None else NOW + timedelta(seconds=reset_s)
    assert is_new_reset(parked, said, reset, now=NOW) is later


# -- in which order -------------------------------------------------------------------------------


def test_seats_of_one_account_wake_one_after_the_other() -> None:
    parked = {"coder-1": one(), "coder-2": one(-60), "coder-3": one(-60, agent="codex")}
    assert to_wake(parked, now=NOW) == ("coder-2", "coder-3")
    parked["coder-2"] = one(-60, woken=after(0))
    parked["coder-3"] = one(-60, agent="codex", woken=after(0))
    assert to_wake(parked, now=NOW) == ()
    assert next_wake(parked) == NOW + timedelta(seconds=SETTLE_S)
    works = {**parked, "coder-2": replace(parked["coder-2"], settled=True)}
    assert to_wake(works, now=NOW) == ("coder-1",)
    later = NOW + timedelta(seconds=SETTLE_S)
    assert to_wake(parked, now=later) == ("coder-1",)


def test_nobody_is_woken_early() -> None:
    parked = {"coder-1": one(60)}
    assert to_wake(parked, now=NOW) == ()
    assert next_wake(parked) == NOW + timedelta(seconds=60)
    assert to_wake(parked, now=NOW + timedelta(seconds=60)) == ("coder-1",)
    assert next_wake({}) is None


def test_nobody_who_was_woken_is_woken_again() -> None:
    parked = {"coder-1": one(-60, woken=after(-3600))}
    assert to_wake(parked, now=NOW) == ()
    assert next_wake(parked) is None


# -- what a session does about it -----------------------------------------------------------------

UNTIL = AgentParked(agent="claude", home="/h", until=after(0))


def limited() -> tuple[Session, str]:
    session = ready(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.tell(UNTIL, "architect", launch)
    return session, launch


def woken(session: Session, launch: str, **facts: object) -> list[tuple[str, str]]:
    launches = {launch: RUNS}
    found = next_actions(
        session.state,
        Facts(artifacts=Artifacts(), launches=launches, to_wake=("architect",), **facts),  # type: ignore[arg-type]
    )
    return [(each.seat, each.how) for each in found if isinstance(each, Wake)]


def test_who_is_idle_is_told_and_who_is_busy_is_left_alone() -> None:
    session, launch = limited()
    assert woken(session, launch) == [("architect", "told")]
    assert woken(session, launch, busy=frozenset({"architect"})) == [("architect", "busy")]
    session.tell(AgentWoken(how="told"), "architect", launch)
    assert woken(session, launch) == []


def test_after_a_reboot_a_parked_seat_is_launched_when_its_limit_is_over() -> None:
    session, launch = limited()
    session.tell(Resumed(phase="architecting", cycle=1, found={}))
    assert session.state.seats == {}
    assert session.state.parked.keys() == {"architect"}
    assert actions(session) == ()

    found = next_actions(session.state, Facts(artifacts=Artifacts(), to_wake=("architect",)))
    assert [(each.seat, each.how) for each in found if isinstance(each, Wake)] == [
        ("architect", "launch")
    ]
    assert not any(isinstance(each, Launch) for each in found)
    session.tell(AgentWoken(how="launch"), "architect", launch)
    assert [type(each) for each in actions(session)] == [Launch]
    session.launch("architect")
    assert not is_parked(session.state, "architect")


def test_a_parked_agent_that_crashes_is_launched_again_after_its_limit() -> None:
    session, launch = limited()
    session.tell(AgentExited(cause="crashed", status=1), "architect", launch)
    gone = {launch: LaunchFact(pane="%1", started=True)}
    assert actions(session, gone) == ()
    session.tell(AgentWoken(how="launch"), "architect", launch)
    assert [each.attempt for each in actions(session, gone) if isinstance(each, Launch)] == [2]


def test_research_is_told_to_who_is_parked_only_after_the_limit() -> None:
    session = ready(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    session.tell(UNTIL, "architect", launch)
    done = ResearchDone(research="code", topic="t")
    session.signal("code-researcher-t", done, "code-researcher", topic="t")
    runs = {launch: RUNS}
    assert not any(isinstance(each, Tell) for each in actions(session, runs))
    session.tell(AgentWoken(how="told"), "architect", launch)
    assert [each.seat for each in actions(session, runs) if isinstance(each, Tell)] == ["architect"]


# -- a night --------------------------------------------------------------------------------------


class Night:
    """A session whose coders are parked; the machine may go down at any time.

    All that is known of the limits is in the state: each step is made by a new orchestrator.
    """

    def __init__(self, agents: Mapping[int, str], until_s: Mapping[int, int]) -> None:
        self.session = at(Phase.PLANNING)
        self.session.planned(("parallel", sorted(agents)))
        self.session.tell(ArtifactsArchived())
        self.now, self.alive = NOW, dict[str, str]()
        self.agents = {f"coder-{n}": agent for n, agent in agents.items()}
        self.until = {f"coder-{n}": after(until_s[n]) for n in agents}
        self.woken: dict[str, datetime] = {}
        self.works: set[str] = set()
        for number, name in enumerate(self.agents, 1):
            self.alive[name] = self.session.launch(name, "coder", subplan=number)
            limit = AgentParked(agent=self.agents[name], home="/h", until=self.until[name])
            self.session.tell(limit, name, self.alive[name])

    def reboot(self) -> None:
        self.alive.clear()
        found = to_fields(state_from_disk(self.session.state, Artifacts()))
        self.session.tell(Resumed(phase="implementing", cycle=1, found=found))

    def step(self) -> None:
        """Do what a new orchestrator does next, and check whom it wakes."""
        state = self.session.state
        facts = Facts(
            artifacts=Artifacts(),
            launches=dict.fromkeys(self.alive.values(), RUNS),
            to_wake=to_wake(state.parked, now=self.now),
        )
        for action in next_actions(state, facts):
            if isinstance(action, Wake):
                self.wake(action)
            if isinstance(action, Launch):
                seat = action.work.seat
                assert seat in self.woken, "it is launched before its limit is over"
                self.alive[seat] = self.session.launch(seat, "coder", subplan=action.work.subplan)

    def wake(self, wake: Wake) -> None:
        name, agent = wake.seat, self.agents[wake.seat]
        assert name not in self.woken, "it is woken twice"
        assert text(self.now) >= self.until[name], "it is woken early"
        rivals = [each for each in self.woken if self.agents[each] == agent]
        for rival in rivals:
            waited_s = (self.now - self.woken[rival]).total_seconds()
            assert rival in self.works or waited_s >= SETTLE_S, f"{rival} was just woken"
        self.woken[name] = self.now
        self.session.tell(AgentWoken(how=wake.how), name, wake.launch, at=text(self.now))

    def work(self) -> None:
        """Let the agents that were woken be seen at work."""
        for name in self.woken.keys() & self.alive.keys():
            self.works.add(name)
            self.session.tell(AgentWoken(how="busy"), name, self.alive[name])


AGENTS = st.sampled_from(["claude", "codex"])
CODERS = st.dictionaries(st.integers(1, 4), st.tuples(AGENTS, st.integers(0, 300)), min_size=1)


@given(CODERS, st.lists(st.sampled_from(["reboot", "work", "wait", "pass"]), max_size=12))
def test_each_seat_is_woken_once_and_one_account_at_a_time(
    coders: Mapping[int, tuple[str, int]], happens: list[str]
) -> None:
    numbers = dict(enumerate(coders.values(), 1))
    night = Night(
        {n: agent for n, (agent, _) in numbers.items()}, {n: s for n, (_, s) in numbers.items()}
    )
    for event in happens:
        night.step()
        if event == "reboot":
            night.reboot()
        elif event == "work":
            night.work()
        elif event == "wait":
            night.now += timedelta(seconds=37)
        elif (due := next_wake(night.session.state.parked)) is not None:
            night.now = max(night.now, due)
    night.step()
    while (due := next_wake(night.session.state.parked)) is not None:
        night.now = max(night.now, due)
        before = set(night.woken)
        night.step()
        assert set(night.woken) != before, "the time that was asked for wakes somebody"
    night.step()
    assert night.woken.keys() == night.alive.keys() == night.agents.keys()
