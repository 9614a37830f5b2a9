"""A session as a state machine, on a fake disk, with kills between any two writes.

The world outlives every process: files (as cached and as durable), the journal, panes, commits.
The orchestrator here is a small interpreter of `next_actions`. For each event it keeps the
required order (add implied artifacts, commit the state, archive, launch), and it can be killed
between any two operations. Agents write artifacts and signal, also late, twice or out of order.

The ledger below checks the fold against the plain lines of the journal, by its own rules.
"""

from __future__ import annotations

import itertools
import json
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Step
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agentmux.core.codec.records import to_fields
from agentmux.core.decisions import next_actions as decide
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.decisions.inference import infer
from agentmux.core.decisions.limits import is_parked, next_wake, to_wake
from agentmux.core.decisions.next_actions import Exit, Facts, LaunchFact, next_actions
from agentmux.core.documents.review import review_file
from agentmux.core.fold.acceptance import Answer, is_judged, judge
from agentmux.core.fold.apply import advance, fold
from agentmux.core.fold.implied import derive_files
from agentmux.core.fold.parts.parking import BUSY, LAUNCH, TOLD
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    AgentParked,
    AgentWoken,
    Approved,
    ArchitectureDone,
    ArtifactsArchived,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    CommitMade,
    CommitStarted,
    DesignDone,
    Event,
    Fact,
    JournalCreated,
    PhaseSettled,
    PlanDone,
    PmDone,
    ResearchDone,
    ResearchTold,
    Resumed,
    ReviewDone,
    SessionFailed,
    SessionStarted,
    SummaryDone,
    encode,
    parse,
)
from agentmux.core.journal.state import SessionState, decode
from agentmux.core.journal.state import encode as encode_state
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import ARCHITECTURE, Artifacts, done_marker
from agentmux.core.pipeline.on_disk import StateFromDisk, state_from_disk
from agentmux.core.pipeline.registry import PIPELINE, working_phase
from agentmux.overriding import override
from tests.core.builders import AT, EXPERT, LOGIC, QUALITY, artifacts, outcome_of, plan, review

DESIGN = "05_design/design.md"
STATE = "state.json"
BEFORE_ALL = SessionState(phase=Phase.ARCHITECTING)


class KilledError(Exception):
    """The orchestrator's process was killed between two operations."""


# -- the world -----------------------------------------------------------------------------------


@dataclass
class World:
    """Everything that outlives the orchestrator, which is killed after ``fuse`` operations."""

    durable: dict[str, str] = field(default_factory=dict)
    cached: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    synced: int = 0
    panes: dict[str, Pane] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    clock: datetime = field(default_factory=lambda: datetime.fromisoformat(AT))
    fuse: int | None = None

    def burn(self) -> None:
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.fuse = None
                raise KilledError

    def write(self, path: str, text: str) -> None:
        """Replace a file: the rename is visible first, and durable after the directory's fsync."""
        self.burn()
        self.cached[path] = text
        self.burn()
        self.durable = dict(self.cached)

    def move(self, path: str, to: str) -> None:
        self.burn()
        if path in self.cached:
            target = next(
                name for n in itertools.count() if (name := f"{to}/{path}" + f"~{n}" * bool(n))
                not in self.cached
            )  # fmt: skip
            self.cached[target] = self.cached.pop(path)
        self.burn()
        self.durable = dict(self.cached)

    def append(self, line: str) -> None:
        self.burn()
        self.lines.append(line)
        self.burn()
        self.sync()

    def sync(self) -> None:
        self.synced = len(self.lines)

    def lose_power(self) -> None:
        """Lose everything that was not synced, and every process."""
        self.cached = dict(self.durable)
        del self.lines[self.synced :]
        for pane in self.panes.values():
            pane.end(None)

    def below(self, folder: str) -> list[str]:
        return [p for p in self.cached if p == folder or p.startswith(f"{folder}/")]


@dataclass
class Pane:
    """One pane, its agent, and the exit record that its wrapper left."""

    launch: str
    seat: str
    role: str
    cycle: int
    iteration: int
    phase: str
    subplan: int | None
    topic: str
    alive: bool = True
    there: bool = True
    exit: Exit | None = None
    verdict: str = ""  # empty until it has left its artifact
    limits: int = 0
    told: int = 0

    def end(self, record: Exit | None) -> None:
        if self.alive:
            self.alive, self.exit = False, record
        self.there = False


# -- the orchestrator, interpreted ---------------------------------------------------------------


class Orchestrator:
    """Carries out the core's decisions in the required order; decides nothing itself."""

    def __init__(self, world: World, ids: Iterator[int]) -> None:
        self.world, self.ids = world, ids
        self.state = committed(world)

    # reading the world

    def offsets(self) -> list[int]:
        return list(itertools.accumulate(len(line) for line in self.world.lines))

    def artifacts(self) -> Artifacts:
        absent = [path for each in self.state.pending_archive for path in each.paths]
        return artifacts(self.world.cached, absent)

    def facts(self) -> Facts:
        launches = {
            name: LaunchFact(
                pane=f"%{name}" if pane.there else None,
                alive=pane.alive,
                started=True,
                exit=pane.exit,
            )
            for name, pane in self.world.panes.items()
        }
        due = to_wake(self.state.parked, now=self.world.clock)
        return Facts(artifacts=self.artifacts(), launches=launches, to_wake=due)

    # folding

    def catch_up(self) -> int:
        """Fold every line that is not applied yet; return how many there were.

        Flushes the journal first, because a writer may have been killed before its flush.
        """
        self.world.sync()
        count = 0
        for line, offset in zip(list(self.world.lines), self.offsets(), strict=True):
            if offset > self.state.applied_offset:
                self.fold_one(parse(json.loads(line)), offset)
                count += 1
        return count

    def fold_one(self, event: Event, offset: int) -> None:
        after = advance(self.state, event, offset)
        for each in derive_files(self.state, event, after):
            self.add(each.path, each.text, each.fields, each.copy_of)
        self.world.write(STATE, json.dumps(encode_state(after)))
        self.state = after

    def add(self, path: str, text: str | None, fields: Any, copy_of: str | None) -> None:
        cached = self.world.cached
        if copy_of is not None:
            if path not in cached and copy_of in cached:
                self.world.write(path, cached[copy_of])
        else:
            self.world.write(path, json.dumps(fields) if text is None else text)

    def record(self, fact: Fact, seat: str = "orchestrator", launch: str = "") -> None:
        line = encode(
            Event(
                id=f"o{next(self.ids)}", at=self.world.clock.isoformat(), seat=seat, launch=launch,
                cycle=self.state.cycle, fact=fact,
            )
        )  # fmt: skip
        self.world.append(json.dumps(line))
        self.catch_up()

    # acting

    def run(self) -> None:
        self.catch_up()
        rounds = 0
        while actions := next_actions(self.state, self.facts()):
            rounds += 1
            assert rounds < 60, f"it never comes to rest: {actions}"
            for action in actions:
                self.perform(action)

    def perform(self, action: decide.Action) -> None:  # noqa: C901 (one case for each action)
        match action:
            case decide.FinishArchive():
                self.finish_archive()
            case decide.EndPanes(launches=launches):
                self.end_panes(launches)
            case decide.Settle(phase=phase, found=values):
                self.record(PhaseSettled(phase=phase, found=plain(values)))
            case decide.Launch(work=work, attempt=attempt):
                self.record(
                    AgentLaunched(
                        role=work.role, record=self.resume_record(), mode="fresh", reason="first",
                        attempt=attempt, subplan=work.subplan, topic=work.topic,
                    ),
                    work.seat, f"l{next(self.ids)}",
                )  # fmt: skip
            case decide.OpenPane(seat=seat, launch=launch):
                self.open_pane(seat, launch)
            case decide.RecordExit(seat=seat, launch=launch, cause=cause):
                self.record(AgentExited(cause=cause), seat, launch)
            case decide.Fail(seat=seat, cause=cause):
                self.record(SessionFailed(cause=cause), seat, self.state.seats[seat].launch)
            case decide.Tell(seat=seat, launch=launch, research=kind, topic=topic):
                self.record(ResearchTold(research=kind, topic=topic, result="ok"), seat, launch)
            case decide.Wake(seat=seat, launch=launch, how=how):
                self.record(AgentWoken(how=how), seat, launch)
                if how == TOLD:
                    self.world.burn()
                    self.world.panes[launch].told += 1
            case decide.ApproveByItself():
                self.record(Approved())
            case decide.MakeCommit(approval=approval, started=started):
                self.commit(approval, started=started)
            case _:
                raise AssertionError(f"no launch of this world leads to {action}")

    def resume_record(self) -> dict[str, Any]:
        here = {
            "phase": working_phase(self.state),
            "cycle": self.state.cycle,
            "iteration": self.state.iteration,
        }
        return {"place": here, "handed_in": False}

    def finish_archive(self) -> None:
        held = {seat.launch for seat in self.state.seats.values()}
        self.end_panes(tuple(name for name in self.world.panes if name not in held))
        for archive in self.state.pending_archive:
            for path in archive.paths:
                for file in self.world.below(path):
                    self.world.move(file, archive.to)
        self.record(ArtifactsArchived())

    def end_panes(self, launches: tuple[str, ...]) -> None:
        for name in launches:
            self.world.burn()
            self.world.panes[name].end(Exit(hup=True))

    def open_pane(self, name: str, launch: str) -> None:
        self.world.burn()
        live = [p for p in self.world.panes.values() if p.alive and p.seat == name]
        assert not live, f"{name} is launched while {live[0].launch} lives"
        assert launch not in self.world.panes, "a launch happens once"
        seat, state = self.state.seats[name], self.state
        self.world.panes[launch] = Pane(
            launch=launch, seat=name, role=seat.role, cycle=state.cycle,
            iteration=state.iteration, phase=state.phase, subplan=seat.subplan, topic=seat.topic,
        )  # fmt: skip

    def commit(self, approval: str, *, started: bool) -> None:
        if not started:
            self.record(CommitStarted(approval=approval))
        adopted = approval in self.world.commits
        if not adopted:
            self.world.burn()
            self.world.commits.append(approval)
        self.world.burn()
        self.record(CommitMade(commit="c0ffee", adopted=adopted))

    def resume(self) -> None:
        """Replay the journal, infer the phase, and record the resume; launch nothing."""
        pending = self.catch_up()
        disk = self.artifacts()
        inferred = infer(self.state, disk, pending=pending)
        if inferred.phase == Phase.DONE:
            return
        values = plain(state_from_disk(self.state, without_drafts(self.state, disk)))
        self.record(
            Resumed(
                phase=inferred.phase, cycle=self.state.cycle, found=values,

            )
        )  # fmt: skip


def plain(found: StateFromDisk) -> dict[str, Any]:
    """Return the values as in a journal line."""
    made: dict[str, Any] = json.loads(json.dumps(to_fields(found)))
    return made


def committed(world: World) -> SessionState:
    text = world.cached.get(STATE)
    return BEFORE_ALL if text is None else decode(json.loads(text), where=STATE)


# -- the ledger: what the journal's plain lines prove --------------------------------------------

# To which phases a signal may lead, written by hand, independently of the core's tables.
LEADS = {
    "submit_pm_done": {("product_management", "architecting")},
    "submit_architecture": {("architecting", "planning")},
    "submit_plan": {("planning", "designing"), ("planning", "implementing")},
    "submit_design": {("designing", "implementing")},
    "submit_done": {("implementing", "reviewing"), ("fixing", "reviewing")},
    "submit_review": {("reviewing", "fixing"), ("reviewing", "completing")},
    "approve": {("completing", "done")},
    "request_changes": {
        ("completing", phase) for phase in ("architecting", "planning", "implementing", "fixing")
    },
    "commit_made": {("completing", "done")},
}
WORK = {
    "product_management": "submit_pm_done", "architecting": "submit_architecture",
    "planning": "submit_plan", "designing": "submit_design", "implementing": "submit_done",
    "reviewing": "submit_review", "fixing": "submit_done", "completing": "submit_summary",
}  # fmt: skip


@dataclass
class Ledger:
    """Follows the journal line by line, and checks each step of the fold."""

    state: SessionState = BEFORE_ALL
    launches: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    finished: Counter[tuple[object, ...]] = field(default_factory=Counter)
    counted: list[str] = field(default_factory=list)
    limits: Counter[str] = field(default_factory=Counter)
    entered: dict[str, int] = field(default_factory=dict)
    read: int = 0
    offset: int = 0

    def follow(self, world: World) -> None:
        for line in world.lines[self.read :]:
            self.read += 1
            self.offset += len(line)
            self._line(json.loads(line))

    def _line(self, fields: dict[str, Any]) -> None:
        before, event = self.state, parse(fields)
        after = self.state = advance(before, event, self.offset)
        kind, seat = fields["event"], fields["seat"]
        accepted = is_judged(event) and judge(before, event).answer is Answer.ACCEPTED
        self._limited(before, fields)
        if kind == "agent_launched":
            self.launches[seat] = (fields["launch"], before.cycle, before.phase)
        if kind == "resumed":
            self._resumed(before, after, fields["payload"])
            self.launches.clear()
            return
        if accepted:
            self.counted.append(fields["id"])
            self._accepted(before, fields)
        elif is_judged(event):
            assert after.signals == before.signals, "an ignored signal is not counted"
            assert after.phase == before.phase, "an ignored signal leads nowhere"
        self._led(before, after, fields)

    def _limited(self, before: SessionState, fields: dict[str, Any]) -> None:
        kind, seat = fields["event"], fields["seat"]
        if kind == "agent_parked":
            self.limits[seat] += 1
        if kind == "agent_woken" and fields["payload"]["how"] in {TOLD, LAUNCH}:
            self.limits[seat] -= 1
            assert self.limits[seat] >= 0, f"{seat} is woken more often than it was parked"
            assert fields["at"] >= before.parked[seat].until, f"{seat} is woken early"
        if kind == "agent_launched":
            assert not is_parked(before, seat), f"{seat} is launched while it is parked"

    def _led(self, before: SessionState, after: SessionState, fields: dict[str, Any]) -> None:
        origin = working_phase(before)
        if after.phase == before.phase or fields["event"].startswith("session_"):
            return
        # Every artifact here is from a launched agent, and does not count without its signal.
        assert fields["event"] != "phase_settled"
        if after.phase == origin:
            return  # a failed session that continues in its phase
        assert (origin, after.phase) in LEADS[fields["event"]], "a phase is skipped"
        if after.phase == Phase.FIXING:
            asks_for_changes = fields["event"] == "request_changes"
            assert after.iteration == (1 if asks_for_changes else before.iteration + 1)
        self.entered[after.phase] = after.cycle
        if after.phase == Phase.ARCHITECTING and origin != "product_management":
            assert after.cycle == before.cycle + 1

    def _resumed(self, before: SessionState, after: SessionState, payload: dict[str, Any]) -> None:
        """Check that a resume continues where the session was, since no artifact is lost here."""
        assert (after.cycle, after.iteration) == (before.cycle, before.iteration)
        assert payload["phase"] == working_phase(before)

    def _accepted(self, before: SessionState, fields: dict[str, Any]) -> None:
        kind, payload = fields["event"], fields["payload"]
        assert fields["cycle"] == before.cycle, "a signal of an older cycle is counted"
        if kind in {"approve", "request_changes"}:
            return
        launch, cycle, phase = self.launches.get(fields["seat"], ("", 0, ""))
        assert launch == fields["launch"], "a signal of an older launch is counted"
        assert cycle == before.cycle, "a launch of an older cycle is counted"
        if kind in WORK.values():
            origin = working_phase(before)
            assert kind == WORK[origin], "a phase takes another's signal"
            assert phase == origin, "a launch of another phase is counted"
            subject = payload.get("subplan_index") if origin == "implementing" else None
            iteration = before.iteration if origin in {"reviewing", "fixing"} else 0
            key = (before.cycle, iteration, origin, subject, payload.get("role"))
            self.finished[key] += 1
            assert self.finished[key] == 1, f"{key} is done twice"


# -- the machine ---------------------------------------------------------------------------------

FUSES = st.none() | st.integers(0, 30)
EXITS = [None, Exit(status=1), Exit(signal=9), Exit(status=0), Exit(hup=True)]
CUTS = st.sampled_from(["orchestrator", "server", "power"])
PLANS = st.sampled_from(
    [
        plan(("serial", [1])),
        plan(("parallel", [1, 2])),
        plan(("serial", [1, 2])),
        plan(("parallel", [1, 2]), ("serial", [3])),
        plan(("serial", [1, 2]), needs_design=True),
    ]
)
REVIEWERS = st.sampled_from([(LOGIC,), (QUALITY,), (LOGIC, QUALITY), (LOGIC, QUALITY, EXPERT)])


class SessionMachine(RuleBasedStateMachine):
    """A session with its agents and its user, and the kills and signals that happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.ids = itertools.count(1)
        self.ledger = Ledger()
        self.orchestrator: Orchestrator | None = None
        self.late: list[str] = []
        self.acknowledged: dict[str, str] = {}
        self.plan: dict[str, Any] = {}
        self.nominated: tuple[str, ...] = ()

    @initialize(
        chosen=PLANS, nominated=REVIEWERS, product_manager=st.booleans(), cap=st.integers(0, 2),
        options=st.fixed_dictionaries({
            "single_coder": st.booleans(), "require_approval": st.booleans(),
            "commit": st.booleans(),
        }),
    )  # fmt: skip
    def start(
        self, chosen: dict[str, Any], nominated: tuple[str, ...], product_manager: bool, cap: int,
        options: dict[str, bool],
    ) -> None:  # fmt: skip
        self.plan, self.nominated = chosen, nominated
        first = "product_management" if product_manager else "architecting"
        values = {
            "phase": first, "product_manager": product_manager, "max_review_iterations": cap,
            "options": options,
        }  # fmt: skip
        for fact in (JournalCreated(journal_id="j"), SessionStarted(state=values)):
            line = Event(id=fact.kind, at=AT, seat="user", launch="", cycle=1, fact=fact)
            self.world.append(json.dumps(encode(line)))

    # the orchestrator

    def with_orchestrator(self, fuse: int | None, cut: str) -> None:
        """Run the orchestrator until it waits, or until it is killed after ``fuse`` operations."""
        self.world.fuse = fuse
        try:
            if self.orchestrator is None:
                made = Orchestrator(self.world, self.ids)
                live = any(pane.alive for pane in self.world.panes.values())
                if self.world.panes and not live:
                    made.resume()
                self.orchestrator = made  # with live panes it reattaches: no line, no launch
            self.orchestrator.run()
        except KilledError:
            self.cut_off(cut)
        self.world.fuse = None

    def cut_off(self, cut: str) -> None:
        self.orchestrator = None
        if cut == "power":
            self.world.lose_power()
            self.ledger = Ledger()  # unflushed lines are lost, but were never acknowledged
        if cut == "server":
            for pane in self.world.panes.values():
                pane.end(None)

    @rule(fuse=FUSES, cut=CUTS)
    def orchestrate(self, fuse: int | None, cut: str) -> None:
        self.with_orchestrator(fuse, cut)

    @rule(cut=CUTS)
    def kill(self, cut: str) -> None:
        self.cut_off(cut)

    # the agents

    def live(self) -> list[Pane]:
        return [pane for pane in self.world.panes.values() if pane.alive]

    @precondition(lambda self: self.live())
    @rule(data=st.data(), verdict=st.sampled_from(["pass", "pass", "fail"]))
    def agent_works(self, data: st.DataObject, verdict: str) -> None:
        pane = data.draw(st.sampled_from(self.live()))
        self.work(pane, verdict)

    @precondition(lambda self: self.live())
    @rule(data=st.data(), dies=st.booleans())
    def agent_leaves_its_artifact_unsignalled(self, data: st.DataObject, dies: bool) -> None:
        pane = data.draw(st.sampled_from(self.live()))
        holds = self.folded().seats.get(pane.seat)
        if not pane.verdict and holds is not None and holds.launch == pane.launch:
            self.leave_artifact(pane, "pass")
            pane.verdict = "pass"
        if dies:
            pane.end(Exit(status=1))

    @rule(verdict=st.sampled_from(["pass", "fail"]), fuse=FUSES, cut=CUTS)
    def everyone_works(self, verdict: str, fuse: int | None, cut: str) -> None:
        """All agents do their work, so that the pipeline moves on; a kill is still possible."""
        self.with_orchestrator(fuse, cut)
        for pane in self.live():
            self.work(pane, verdict)
        if self.orchestrator is not None:
            self.with_orchestrator(None, cut)

    def work(self, pane: Pane, verdict: str) -> None:
        """Leave the artifact once, then signal, since a signal without its artifact is refused."""
        holds = self.folded().seats.get(pane.seat)
        if not pane.verdict and holds is not None and holds.launch == pane.launch:
            self.leave_artifact(pane, verdict)
            pane.verdict = verdict
        for fact in self.signals_of(pane):
            self.signal(fact, pane)

    def leave_artifact(self, pane: Pane, verdict: str) -> None:
        stamp = f"# {pane.cycle}.{pane.iteration}"
        if pane.role in self.nominated and pane.phase == "reviewing":
            text = json.dumps(review(verdict, summary=stamp))
            self.put(f"07_review/{review_file(pane.role)}", text)
        elif pane.phase == "completing" and pane.role in self.nominated:
            self.put("08_completion/summary.md", stamp)
        elif pane.role == "architect":
            self.put(ARCHITECTURE, f"reviewers: {','.join(self.nominated)}\n{stamp}")
        elif pane.role == "designer":
            self.put(DESIGN, stamp)

    def put(self, path: str, text: str) -> None:
        self.world.cached[path] = self.world.durable[path] = text

    def signals_of(self, pane: Pane) -> list[Fact]:  # noqa: C901 (one case for each role)
        if not pane.verdict:
            return []
        match pane.role:
            case "product-manager":
                return [PmDone()]
            case "architect":
                return [ArchitectureDone(reviewers=self.nominated)]
            case "planner":
                return [PlanDone(plan=self.plan)]
            case "designer":
                return [DesignDone()]
            case "code-researcher":
                return [ResearchDone(research="code", topic=pane.topic)]
            case "coder" if pane.subplan is None and pane.phase == "implementing":
                return [CodeDone(subplan_index=each["index"]) for each in self.plan["subplans"]]
            case "coder":
                return [CodeDone(subplan_index=pane.subplan)]
            case _ if pane.phase == "completing":
                return [SummaryDone()]
            case role:
                return [ReviewDone(role=role, verdict=pane.verdict, review=review(pane.verdict))]

    @precondition(lambda self: self.live())
    @rule(data=st.data(), topic=st.sampled_from(["t", "u"]))
    def agent_asks(self, data: st.DataObject, topic: str) -> None:
        pane = data.draw(st.sampled_from(self.live()))
        self.signal(CodeResearchDispatched(topic=topic, question="how?"), pane)

    @precondition(lambda self: self.live())
    @rule(
        data=st.data(),
        record=st.sampled_from(
            [None, Exit(status=1), Exit(signal=9), Exit(status=0), Exit(hup=True)]
        ),
    )
    def agent_dies(self, data: st.DataObject, record: Exit | None) -> None:
        data.draw(st.sampled_from(self.live())).end(record)

    @precondition(lambda self: self.orchestrator is not None and self.live())
    @rule(data=st.data(), wait_s=st.sampled_from([1, 60, 3600]), works=st.booleans())
    def agent_reaches_its_limit(self, data: st.DataObject, wait_s: int, works: bool) -> None:
        """The orchestrator sees the limit, or that a woken agent works."""
        assert self.orchestrator is not None
        pane = data.draw(st.sampled_from(self.live()))
        self.orchestrator.catch_up()
        seat = self.orchestrator.state.seats.get(pane.seat)
        if seat is None or seat.launch != pane.launch:
            return
        pane.limits += not works
        until = self.world.clock + timedelta(seconds=wait_s)
        limit = AgentParked(agent="demo", until=until.isoformat())
        fact = AgentWoken(how=BUSY) if works else limit
        self.orchestrator.record(fact, pane.seat, pane.launch)

    @rule(seconds=st.sampled_from([1, 60, 130, 4000]))
    def time_passes(self, seconds: int) -> None:
        self.world.clock += timedelta(seconds=seconds)

    # signals: once, again, late, out of order

    def signal(self, fact: Fact, pane: Pane) -> None:
        fields = encode(event_of(fact, pane))
        self.late.append(json.dumps(fields))
        self.submit(json.dumps(fields))

    def submit(self, line: str) -> None:
        """Judge a signal by the folded journal, append it, and note an accepted one.

        The real command does this under the journal's lock.
        """
        event = parse(json.loads(line))
        answer = judge(self.folded(), event).answer
        self.world.append(line)
        if answer is Answer.ACCEPTED:
            assert event.id not in self.acknowledged, "the same signal is accepted twice"
            self.acknowledged[event.id] = event.fact.kind

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def signal_again_or_late(self, data: st.DataObject) -> None:
        self.submit(data.draw(st.sampled_from(self.late)))

    @precondition(lambda self: self.world.panes)
    @rule(data=st.data(), at_once=st.booleans())
    def old_launch_signals(self, data: st.DataObject, at_once: bool) -> None:
        """Signal as any earlier launch, dead or alive; the line may arrive much later."""
        pane = data.draw(st.sampled_from(list(self.world.panes.values())))
        for fact in self.signals_of(pane):
            line = json.dumps(encode(event_of(fact, pane)))
            if at_once:
                self.submit(line)
            else:
                self.late.append(line)

    # the user

    @rule(
        approves=st.sampled_from([True, True, False]),
        begins=st.sampled_from(["", "", "fixing", "planning", "implementing"]),
        late=st.sampled_from([0, 0, 1]),
    )
    def user_decides(self, approves: bool, begins: str, late: int) -> None:
        """Decide on what is there, or on what a face still shows of an earlier cycle."""
        asked = ChangesRequested(text="in blue", phase=begins, of_phase="completing")
        fact = Approved(of_phase="completing") if approves else asked
        made = Event(
            id=f"u{next(self.ids)}", at=AT, seat="user", launch="",
            cycle=self.folded().cycle - late, fact=fact,
        )  # fmt: skip
        self.submit(json.dumps(encode(made)))

    # what always holds

    def folded(self) -> SessionState:
        self.ledger.follow(self.world)
        return self.ledger.state

    @invariant()
    def the_ledger_agrees(self) -> None:
        self.ledger.follow(self.world)

    @invariant()
    def the_committed_state_is_the_fold_up_to_its_offset(self) -> None:
        state = committed(self.world)
        events, offset = [], 0
        for line in self.world.lines:
            offset += len(line)
            if offset <= state.applied_offset:
                events.append((parse(json.loads(line)), offset))
        assert encode_state(fold(BEFORE_ALL, events)) == encode_state(state)

    @invariant()
    def every_acknowledged_signal_counts_exactly_once(self) -> None:
        signals = self.folded().signals
        assert len(set(signals)) == len(signals)
        given = {each for each in signals if not each.startswith("o")}
        assert given == set(self.acknowledged)
        assert list(signals) == self.ledger.counted

    @invariant()
    def a_seat_has_one_live_launch(self) -> None:
        live = Counter(pane.seat for pane in self.world.panes.values() if pane.alive)
        assert not [seat for seat, count in live.items() if count > 1]

    @invariant()
    def who_is_parked_is_needed_and_told_at_most_once(self) -> None:
        for pane in self.world.panes.values():
            assert pane.told <= pane.limits
        state = committed(self.world)
        for name, parked in state.parked.items():
            holds = state.seats.get(name)
            assert holds is None or holds.launch == parked.launch, f"{name}: an older launch"

    @invariant()
    def nothing_of_an_older_attempt_lies_where_it_would_count(self) -> None:
        state = committed(self.world)
        if state.phase not in PIPELINE or self.orchestrator is None:
            return
        if self.ledger.offset != state.applied_offset:
            return  # the ledger knows more than the orchestrator
        absent = [path for each in state.pending_archive for path in each.paths]
        for path in (
            ARCHITECTURE,
            DESIGN,
            "08_completion/summary.md",
            *map(review_path, self.nominated),
        ):
            text = self.world.cached.get(path)
            if text is None or any(path == a or path.startswith(f"{a}/") for a in absent):
                continue
            cycle, _, iteration = text.partition("# ")[2].split('"')[0].partition(".")
            made_in = {ARCHITECTURE: "architecting", DESIGN: "designing"}.get(path)
            wanted = self.ledger.entered.get(made_in, 1) if made_in else state.cycle
            assert int(cycle) == wanted, f"{path} is of cycle {cycle}"
            if path.startswith("07_review"):
                assert int(iteration) == state.iteration, f"{path} is of iteration {iteration}"
        if state.phase == Phase.IMPLEMENTING and not absent:
            there = set(self.world.below("06_implementation"))
            assert there == {done_marker(i) for i in state.completed_subplans}

    @invariant()
    def done_has_what_it_says(self) -> None:
        state = committed(self.world)
        if state.phase != Phase.DONE:
            return
        files = self.world.cached
        assert ARCHITECTURE in files
        assert "04_planning/execution_plan.yaml" in files
        assert "08_completion/approval.json" in files
        assert "07_review/review.md" in files
        count = len(self.plan["subplans"])
        assert done_marker(1) in files or state.iteration
        if not state.iteration:
            assert all(done_marker(i) in files for i in range(1, count + 1))
        if outcome_of(state) == "passed":
            verdicts = [json.loads(files[review_path(r)])["verdict"] for r in self.nominated]
            assert set(verdicts) == {"pass"}
        else:
            assert outcome_of(state) == "capped"
        if state.options.commit:
            assert self.world.commits == [state.approval]

    @override
    def teardown(self) -> None:
        """Check that without further kills the session comes to rest with every line applied."""
        if not self.world.lines:
            return
        self.with_orchestrator(None, "orchestrator")
        assert self.orchestrator is not None
        while (due := next_wake(self.orchestrator.state.parked)) is not None:
            self.world.clock = max(self.world.clock, due)
            waiting = sorted(self.orchestrator.state.parked.items())
            self.with_orchestrator(None, "orchestrator")
            assert sorted(self.orchestrator.state.parked.items()) != waiting, "nobody is woken"
        state = committed(self.world)
        assert state.applied_offset == sum(len(line) for line in self.world.lines)
        self.every_acknowledged_signal_counts_exactly_once()
        self.the_committed_state_is_the_fold_up_to_its_offset()
        self.done_has_what_it_says()


def review_path(role: str) -> str:
    return f"07_review/{review_file(role)}"


def event_of(fact: Fact, pane: Pane) -> Event:
    """Return the event of a fact; the same arguments give the same id."""
    about = getattr(fact, "topic", None) or getattr(fact, "subplan_index", None) or ""
    verdict = getattr(fact, "verdict", "")
    return Event(
        id=f"{pane.launch}/{fact.kind}/{about}/{verdict}", at=AT, seat=pane.seat,
        launch=pane.launch, cycle=pane.cycle, fact=fact,
    )  # fmt: skip


@pytest.mark.long
def test_a_session_survives_everything() -> None:
    machine = settings(
        stateful_step_count=40,
        suppress_health_check=list(HealthCheck),
        phases=(Step.explicit, Step.reuse, Step.generate, Step.shrink),
    )
    try:
        run_state_machine_as_test(SessionMachine, settings=machine)
    except Exception as error:  # noqa: BLE001 (pytest cannot show code that hypothesis made up)
        pytest.fail("".join(traceback.format_exception(error)), pytrace=False)
