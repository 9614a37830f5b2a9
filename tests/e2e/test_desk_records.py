"""Keys of the desk leave the same records as the commands of their names, in twin projects."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import SCRATCH, WaitUntil
from tests.e2e.conftest import QUICK, Project, Session, make_root
from tests.e2e.desk_pane import ASKS, SLOW, Desk, opened

pytestmark = pytest.mark.rare("tests/web/test_same_records.py compares the same records")

OF_PEOPLE = frozenset(
    {
        "session_started", "approve", "request_changes", "seat_told", "seat_answered",
        "session_interrupted", "resumed", "session_reattached", "seat_restarted", "limits_lifted",
        "launch_chosen", "commit_started", "commit_made",
    }
)  # fmt: skip
"""The events that follow from what a person does, and from nothing else."""

_MASKED = (
    (re.compile(r"\d{4}-\d\d-\d\d\w\d\d:\d\d:\d\d[.\d]*\w?"), "TIME"),
    (re.compile(r"\d{8}-\d{6}"), "STAMP"),
    (re.compile(rf"{SCRATCH}/amx-\w+"), "ROOT"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HEX"),
)


def masked(value: Any) -> Any:
    """Return JSON without what differs between any two sessions: times, ids, paths, digests."""
    if isinstance(value, dict):
        return {key: masked(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [masked(each) for each in value]
    if isinstance(value, str):
        for pattern, word in _MASKED:
            value = pattern.sub(word, value)
    return value


def records(session: Session) -> list[Any]:
    """Return what people have done to a session, as its journal tells it.

    The digest is left out: the desk says in addition which result the person was shown.
    """
    return [
        masked((each["event"], each["seat"], each["cycle"], {**each["payload"], "digest": ""}))
        for each in session.events
        if each["event"] in OF_PEOPLE
    ]


class Twins:
    """Two sessions alike: one for the desk, one for the commands."""

    def __init__(self, desk: Project, commands: Project, wait_until: WaitUntil) -> None:
        self.projects, self._wait_until = (desk, commands), wait_until
        self.sessions: tuple[Session, ...] = ()

    def begin(self, scenario: Any) -> Twins:
        for each in self.projects:
            each.scenario(scenario)
        self.sessions = tuple(each.start("add a greeting") for each in self.projects)
        return self

    def take(self) -> None:
        """Take the one session of each project."""
        found = tuple(tuple(Session(each, p) for p in each.sessions()) for each in self.projects)
        assert [len(each) for each in found] == [1, 1]
        self.sessions = tuple(each for (each,) in found)

    @property
    def other(self) -> Session:
        """The session of the commands."""
        return self.sessions[1]

    def both(self, act: Callable[[Session], object]) -> None:
        for each in self.sessions:
            act(each)

    def left(self, kind: str, count: int = 1) -> None:
        """Wait until each has so many events of a kind; their records are the same."""

        def are_there() -> bool:
            return all(each.kinds(kind).count(kind) >= count for each in self.sessions)

        self._wait_until(are_there, 60, lambda: str([e.kinds() for e in self.sessions]))
        desk, commands = map(records, self.sessions)
        assert desk == commands
        assert [each[0] for each in desk].count(kind) == count

    def rest(self) -> None:
        """Wait until no session is on a tmux server any more."""

        def do() -> bool:
            return not any(each.program("tmux", "ls").stdout for each in self.projects)

        self._wait_until(do, 60)

    def even(self) -> None:
        """Wait until the commands' session has come as far as the desk's."""

        def status(each: Session) -> str:
            return str(each.project.json("status", each.name)["sessions"][0]["status"])

        self._wait_until(lambda: status(self.sessions[0]) == status(self.sessions[1]), 60)


@pytest.fixture
def twins(wait_until: WaitUntil) -> Iterator[Twins]:
    projects = (Project(make_root()), Project(make_root()))
    for each in projects:
        each.config("defaults: {agent: demo}\nsnapshots: {interval: 0.2s}\n")
    yield Twins(projects[0], projects[1], wait_until)
    for each in projects:
        each.close()


def kill_orchestrator(session: Session) -> None:
    os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)


def answered(desk: Desk, key: str, *words: str) -> None:
    """Press a key, wait for its question, and say yes."""
    desk.press(key)
    desk.shows(*words)
    desk.press("y")


def test_new_tell_stop_resume_and_reattach(twins: Twins, wait_until: WaitUntil) -> None:
    for each in twins.projects:
        each.scenario(SLOW)
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("no sessions")
        desk.press("n")
        desk.shows("What should be built?", "1 of 5")
        desk.type("add a greeting")
        desk.press("Enter", "Enter")
        desk.shows("> add-a-greeting", within_s=60)
        twins.projects[1].ok("start", "--detach", "add a greeting")
        twins.take()
        twins.left("session_started")
        twins.both(lambda each: each.until_seat("coder-1").settled("coder-1"))

        desk.shows("1 running", "implementing")
        desk.press("t")
        desk.shows("What to tell coder-1")
        desk.type("name it better")
        desk.press("Enter", "Enter")
        twins.projects[1].ok("tell", twins.other.name, "--role", "coder-1", "name it better")
        twins.left("seat_told")
        desk.shows("coder-1 has it", within_s=60)

        answered(desk, "S", "Stop it?")
        twins.projects[1].ok("stop", twins.other.name)
        twins.left("session_interrupted")

        desk.shows("1 interrupted", "safe to resume")
        desk.press("R")
        desk.shows("What a resume of", "1 ↻ coder-1")
        desk.press("1")
        desk.shows("begins a new conversation (1: shell, stopped")
        desk.press("y")
        name = twins.other.name
        twins.projects[1].ok("resume", "--detach", "--yes", "--fresh-role", "coder-1", name)
        twins.left("resumed")
        wait_until(lambda: all(e.launched().count("coder-1") == 2 for e in twins.sessions), 60)
        twins.both(lambda each: each.until_seat("coder-1").settled("coder-1"))
        desk.shows("1 running")

        twins.both(kill_orchestrator)
        desk.shows("to reattach", "nobody drives them")
        answered(desk, "R", "no orchestrator drives them")
        twins.projects[1].ok("resume", "--reattach", "--detach", name)
        twins.left("session_reattached")


def test_changes_approval_and_removal(twins: Twins, wait_until: WaitUntil) -> None:
    twins.begin(QUICK).both(Session.wait)
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("yours to decide")
        desk.press("c")
        desk.shows("What should change in")
        desk.type("name it better")
        desk.press("Enter", "Enter")
        twins.projects[1].ok(
            "request-changes", "--from", "fixing", "--session", twins.other.name, "name it better"
        )
        twins.left("request_changes")
        wait_until(lambda: all(e.state["cycle"] == 2 for e in twins.sessions), 60)
        twins.both(Session.wait)

        desk.shows("yours to decide", "cycle 2")
        desk.press("a")
        desk.shows("to be committed: 2 files")
        desk.press("a")
        twins.projects[1].ok("approve", twins.other.name, "--yes")
        twins.left("commit_made")
        for each in twins.projects:
            assert each.git("log", "-1", "--format=%s").strip() == "add a greeting"

        desk.shows("1 done")
        twins.rest()
        answered(desk, "D", "Remove it for good?")
        twins.projects[1].ok("remove", twins.other.name, "--yes")
        wait_until(lambda: not any(each.sessions() for each in twins.projects), 60)


def test_an_answer(twins: Twins, wait_until: WaitUntil) -> None:
    twins.begin(ASKS)
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("waiting for you", "x answer", within_s=60)
        desk.press("x")
        desk.shows("architect of", "asks")
        desk.press("Enter")
        name = twins.other.name
        twins.even()
        (seat,) = twins.projects[1].json("status", name)["sessions"][0]["seats"]
        words = ("--role", "architect", "--screen", seat["screen"]["digest"], name, "Enter")
        twins.projects[1].ok("answer", *words)
        twins.left("seat_answered")


def test_a_restart(twins: Twins, wait_until: WaitUntil) -> None:
    crash = {"crash": "before_write", "exit": 1}
    twins.begin({**QUICK, "roles": {**QUICK["roles"], "coder": crash}})
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("r restart", within_s=60)
        twins.even()
        for each in twins.projects:
            each.scenario(SLOW)
        desk.press("r")
        desk.shows("Start a seat of", "1 coder-1")
        desk.press("1")
        twins.projects[1].ok("restart", twins.other.name, "--role", "coder-1")
        twins.left("seat_restarted")


def test_the_end_of_a_limit(twins: Twins, wait_until: WaitUntil) -> None:
    twins.begin({**QUICK, "roles": {**QUICK["roles"], "coder": {"limit": True}}})
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("1 waiting for a limit", "u unpark", within_s=60)
        answered(desk, "u", "Let them go on now?")
        twins.even()
        twins.projects[1].ok("unpark", twins.other.name)
        twins.left("limits_lifted")


@pytest.mark.parametrize("what", ["approve", "changes"])
def test_a_decision_over_a_killed_orchestrator(
    twins: Twins, wait_until: WaitUntil, what: str
) -> None:
    twins.begin(QUICK).both(Session.wait)
    name = twins.other.name
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("yours to decide")
        twins.both(kill_orchestrator)
        desk.shows("nobody drives them", "a approve", "R reattach")
        if what == "approve":
            desk.press("a")
            desk.shows("to be committed: 2 files")
            desk.press("a")
            twins.projects[1].run("approve", name, "--yes")
        else:
            desk.press("c")
            desk.shows("What should change in")
            desk.type("name it better")
            desk.press("Enter", "Enter")
            twins.projects[1].run(
                "request-changes", "--from", "fixing", "--session", name, "name it better"
            )
        twins.left("approve" if what == "approve" else "request_changes")


def test_a_stop_and_a_removal_over_a_killed_orchestrator(
    twins: Twins, wait_until: WaitUntil
) -> None:
    twins.begin(SLOW).both(lambda each: each.until_seat("coder-1").settled("coder-1"))
    name = twins.other.name
    with opened(twins.projects[0], wait_until) as desk:
        desk.shows("1 running")
        twins.both(kill_orchestrator)
        desk.shows("nobody drives them")
        answered(desk, "S", "Stop it?")
        twins.projects[1].ok("stop", name)
        twins.rest()
        assert records(twins.sessions[0]) == records(twins.sessions[1])
        desk.shows("1 interrupted", "stopped ")
        answered(desk, "D", "Remove it for good?")
        twins.projects[1].ok("remove", name, "--yes")
        wait_until(lambda: not any(each.sessions() for each in twins.projects), 60)
