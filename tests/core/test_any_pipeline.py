"""Any pipeline that is accepted, with any history: fails, caps, crashes, requests and kills.

The model is what outlives the orchestrator: the journal, and the files. Its agents do what an agent
does, and nothing else decides what comes next.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import to_fields
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.decisions.inference import infer
from agentmux.core.decisions.next_actions import settlement
from agentmux.core.decisions.tree_checkpoints import (
    PHASE_ENDED,
    STOP,
    kept_subplans,
    position,
    rewound_phase,
)
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    PipelineDefinition,
)
from agentmux.core.definitions.definition_check import check_definition
from agentmux.core.definitions.located import Located
from agentmux.core.definitions.rules import Surroundings
from agentmux.core.documents.plan import check_execution_plan
from agentmux.core.documents.review import Verdict, review_file
from agentmux.core.fold import transitions
from agentmux.core.fold.acceptance import judge, takes_decision
from agentmux.core.fold.apply import advance, fold
from agentmux.core.fold.implied import derive_files
from agentmux.core.journal import events
from agentmux.core.journal.events import Event, Fact
from agentmux.core.journal.state import SessionState, TreeCheckpoint
from agentmux.core.names.phase import CHECK, ENDS, REVIEWERS, Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.check_phase import check_commands, waiting_for_user
from agentmux.core.pipeline.on_disk import state_from_disk
from agentmux.core.pipeline.registry import beginnings, pipeline_of, working_phase
from agentmux.core.pipeline.results import all_results
from agentmux.core.pipeline.work import Work, find_work
from tests.core.builders import AT, plan, review

ROLES = ("architect", "planner", "coder", *REVIEWERS, "security")
COMMANDS = ("tests", "types")
VERIFY = tuple(
    {"name": name, "run": ["true"], "timeout_s": 9, "required": name == "tests"}
    for name in COMMANDS
)
EACH = 25
"""How many pipelines each part of the test tries."""
STEPS = 60
"""How many steps of its history a session makes before its user wants it to end."""


# -- definitions ---------------------------------------------------------------------------------


def phase_of(rnd: random.Random, number: int, kind: str) -> dict[str, Any]:
    """Return a random phase of a kind, as a file has it."""
    phase: dict[str, Any] = {"phase": f"p{number}", "kind": kind}
    match kind:
        case "document":
            phase |= {"roles": ["architect"], "leaves": [f"d{number}.md", "x.md"]}
        case "work":
            phase |= {"roles": ["coder"]}
        case "check":
            run = rnd.choice([[], ["tests"], ["types"], [*COMMANDS]])
            phase |= {
                "expect": rnd.choice(["pass", "pass", "fail"]),
                **({"run": run} if run else {}),
            }
        case _:
            roles = ([*REVIEWERS], ["security"], ["security", "reviewer_logic"])
            phase |= {"roles": rnd.choice(roles)}
    if kind in {"check", "review"} and rnd.random() < 0.7:
        phase |= {"on_fail": rnd.choice(["fix1", "fix2"])}
    return phase


def definition(rnd: random.Random) -> PipelineDefinition:
    """Return a random pipeline; the check has accepted it."""
    kinds = rnd.choices(("document", "work", "check", "review"), (2, 3, 4, 4), k=rnd.randint(1, 6))
    phases = [phase_of(rnd, number, kind) for number, kind in enumerate(kinds)]
    if rnd.random() < 0.5:
        phases.insert(0, {"phase": "plans", "kind": "plan", "roles": ["planner"]})
    for name in sorted({each["on_fail"] for each in phases if "on_fail" in each}):
        fix = {"phase": name, "kind": "fix", "roles": ["coder"]}
        first = next(at for at, each in enumerate(phases) if each.get("on_fail") == name)
        before = [each["phase"] for each in phases[:first] if each["kind"] == "work"]
        shared = {"folder": rnd.choice(before)} if before and rnd.random() < 0.6 else {}
        phases.insert(rnd.randint(0, len(phases)), fix | shared)
    phases.append({"phase": "ends", "kind": "complete", "roles": [*REVIEWERS]})
    around = Surroundings(
        roles=frozenset(ROLES), prompts=dict.fromkeys(ROLES, ""), commands=COMMANDS
    )
    checked = check_definition(
        Located(lines={"": 1}, value={"version": 1, "name": "any", "phases": phases}), around
    )
    assert checked.pipeline is not None, checked.problems
    return checked.pipeline


# -- the model -----------------------------------------------------------------------------------


class Model:
    """A session, its journal and its files; every launched agent is at work until it is told."""

    def __init__(self, pipeline: PipelineDefinition, rnd: random.Random) -> None:
        new = SessionState(
            phase="",
            journal_id="j",
            pipeline=pipeline,
            max_review_iterations=2,
            verify=rnd.choice((VERIFY, VERIFY, ())),
        )
        self.first = self.state = transitions.begin_session(new)
        self.random = rnd
        self.journal: list[tuple[Event, int]] = []
        self.files: dict[str, str] = {}
        self.saved: list[TreeCheckpoint] = []
        self.check()

    # -- events and files

    def tell(self, fact: Fact, seat: str = "orchestrator", launch: str = "") -> None:
        number = len(self.journal) + 1
        told = Event(
            id=f"e{number}", at=AT, seat=seat, launch=launch, cycle=self.state.cycle, fact=fact
        )
        if fact.kind in events.SIGNALS or fact.kind in events.USER_DECISIONS:
            assert judge(self.state, told).answer.value == "accepted", judge(self.state, told)
        before, self.state = self.state, advance(self.state, told, number)
        self.journal.append((told, number))
        for each in derive_files(before, told, self.state):
            if each.copy_of is not None:
                self.files.setdefault(each.path, self.files.get(each.copy_of, ""))
            else:
                self.files[each.path] = (
                    each.text or "" if each.fields is None else json.dumps(each.fields)
                )
        if self.state.pending_archive:
            self._archive()
        self.check()

    def _archive(self) -> None:
        for archive in self.state.pending_archive:
            for path in [each for each in self.files if archive.takes(each)]:
                self.files[f"{archive.to}/{path}"] = self.files.pop(path)
        self.tell(events.ArtifactsArchived(moved=len(self.state.pending_archive)))

    def artifacts(self) -> Artifacts:
        found = {
            p: json.loads(t)
            for p, t in self.files.items()
            if p.endswith(("results.yaml", "n.yaml"))
        }
        here = {p: fields for p, fields in found.items() if not p.startswith("history/")}
        reviews = {
            p: json.loads(t)
            for p, t in self.files.items()
            if "/review_" in p and not p.startswith("history/")
        }
        plans = [fields for p, fields in here.items() if p.endswith("execution_plan.yaml")]
        return Artifacts(
            sizes={path: len(text) + 1 for path, text in self.files.items()},
            execution_plan=check_execution_plan(plans[0])[0] if plans else None,
            results={p: str(f["outcome"]) for p, f in here.items() if p.endswith("results.yaml")},
            verdicts={path: Verdict(str(each["verdict"])) for path, each in reviews.items()},
            reviews=reviews,
        )

    # -- what must always hold

    def check(self) -> None:
        state, pipeline = self.state, pipeline_of(self.state)
        works = find_work(state)
        assert len({each.seat for each in works}) == len(works), "two agents for one seat"
        if state.phase in ENDS or state.pending_archive:
            return
        waits = takes_decision(state) or waiting_for_user(state, state.phase) or state.approval
        assert works or waits, f"nobody is waited for in {state.phase}"
        kind = pipeline[state.phase].kind
        results = all_results(state)
        again = pipeline[state.phase].next if kind is Kind.FIX else None
        if state.fix is not None and state.fix.sender:
            again = pipeline[pipeline[state.fix.sender].on_fail or ""].next
            assert max(state.fix.sent.values(), default=0) <= state.max_review_iterations
        for phase, result in results.items():
            behind = again is not None and pipeline.places[phase] >= pipeline.places[again]
            counts = result.outcome in {"passed", "capped"}
            assert not (behind and counts and result.iteration < state.iteration), "an old result"
        if kind is Kind.COMPLETE:
            looking = pipeline.of_kind(Kind.CHECK, Kind.REVIEW)
            parts = {each.phase for each in looking if each.takes_part(state)}
            assert {p for p, r in results.items() if r.outcome in {"passed", "capped"}} == parts

    # -- what happens

    def launch(self, work: Work) -> None:
        state = self.state
        place = {"phase": state.phase, "cycle": state.cycle, "iteration": state.iteration}
        self.tell(
            events.AgentLaunched(
                role=work.role, record={"place": place, "handed_in": False}, mode="fresh",
                reason="", subplan=work.subplan, topic=work.topic, phase=state.phase,
                attempt=1,
            ),
            work.seat,
            f"l{len(self.journal)}",
        )  # fmt: skip
        assert work.seat in self.state.seats

    def work(self, work: Work, *, good: bool) -> None:
        """Let the agent of a launched seat leave what it is asked for, and hand it in."""
        state = self.state
        here = pipeline_of(state)[state.phase]
        launch = state.seats[work.seat].launch
        if here.kind is Kind.CHECK:
            self._command(work, good=good)
            return
        for name in here.outputs if here.kind in {Kind.DOCUMENT, Kind.COMPLETE} else ():
            self.files[f"{here.folder}/{name}"] = "text"
        verdict = "pass" if good else "fail"
        if here.kind is Kind.REVIEW:
            self.files[f"{here.folder}/{review_file(work.role)}"] = json.dumps(review(verdict))
        facts: dict[Kind, Callable[[], Fact]] = {
            Kind.DOCUMENT: lambda: events.PhaseDone(
                phase=here.phase, sha256=str(len(self.journal))
            ),
            Kind.PLAN: lambda: events.PlanDone(plan=plan(("serial", [1]), ("parallel", [2, 3]))),
            Kind.WORK: lambda: events.CodeDone(subplan_index=work.subplan),
            Kind.FIX: events.CodeDone,
            Kind.REVIEW: lambda: events.ReviewDone(
                role=work.role, verdict=verdict, review=review(verdict)
            ),
            Kind.COMPLETE: events.SummaryDone,
        }
        self.tell(facts[here.kind](), work.seat, launch)

    def _command(self, work: Work, *, good: bool) -> None:
        state = self.state
        here = pipeline_of(state)[state.phase]
        if not state.results or not (known := state.results.get(here.phase)) or not known.tree:
            self.tell(events.ChecksBegan(phase=here.phase, tree=f"t{len(self.journal)}"))
            return
        said = "passed" if good is (here.expect is Expect.PASS) else "failed"
        if not good and self.random.random() < 0.3:
            said = "broken"
        required = {each.name: each.required for each in check_commands(state, here.phase)}
        fact = events.CheckDone(
            phase=here.phase, name=work.topic, outcome=said, tree=known.tree,
            required=required[work.topic],
        )  # fmt: skip
        self.tell(fact, work.seat, state.seats[work.seat].launch)

    def crash(self, seat: str) -> None:
        launch = self.state.seats[seat].launch
        self.tell(events.AgentExited(cause="crashed", status=1), seat, launch)
        fact = events.SessionFailed(cause="lost twice", phase=working_phase(self.state))
        self.tell(fact, seat)

    def kill(self) -> None:
        """End everything, and resume from the journal and the files."""
        state = fold(self.first, self.journal)
        assert state == self.state, "the journal does not lead to the state"
        before = [*find_work(replace(state, phase=working_phase(state)))]
        found = self.artifacts()
        inference = infer(state, found)
        assert inference.phase == working_phase(state), inference
        values = to_fields(state_from_disk(state, without_drafts(state, found), inference.phase))
        fact = events.Resumed(phase=inference.phase, cycle=state.cycle, found=values)
        self.tell(fact)
        assert settlement(self.state, self.artifacts()) is None, "what is done was not recorded"
        assert [*find_work(self.state)] == before, "the resume changes what is to be done"

    def save(self) -> None:
        """Note how far the session is, as a work-tree checkpoint does."""
        at = position(self.state)
        self.saved.append(
            TreeCheckpoint(
                number=len(self.saved) + 1, because=self.random.choice([PHASE_ENDED, STOP]),
                phase=at.phase, commit="c", cycle=at.cycle, iteration=at.iteration,
                subplans=at.subplans,
            )
        )  # fmt: skip

    def rewind(self) -> None:
        to = self.random.choice(self.saved)
        phase = rewound_phase(self.state, to)
        subplans = kept_subplans(self.state, to, phase)
        self.tell(events.Rewound(number=to.number, phase=phase, subplans=subplans))
        assert self.state.phase == phase

    def step(self, *, good: bool) -> bool:
        """Let the next thing happen; return whether there was one that waits for no user."""
        state = self.state
        works = find_work(state)
        if not works:
            return False
        work = self.random.choice(works)
        if work.seat not in state.seats:
            self.launch(work)
        else:
            self.work(work, good=good)
        return True


def history(model: Model) -> Iterator[str]:
    """Let a random history happen; yield what has happened."""
    rnd = model.random
    for _ in range(STEPS):
        state = model.state
        if state.phase == Phase.DONE:
            return
        choice = rnd.random()
        if choice < 0.12 or state.phase == Phase.FAILED:
            model.kill()
            yield "kill"
        elif (
            choice < 0.16 and state.seats and not any(s.role == CHECK for s in state.seats.values())
        ):
            model.crash(rnd.choice([*state.seats]))
            yield "crash"
        elif choice < 0.20:
            model.save()
        elif choice < 0.22 and model.saved and state.approval is None:
            model.rewind()
            yield "rewind"
        elif not model.step(good=rnd.random() < 0.6):
            _decided(model)
            yield "decision"


def _decided(model: Model) -> None:
    """Let the user do what is waited for, in some way."""
    state, rnd = model.state, model.random
    broken = waiting_for_user(state, state.phase)
    if broken:
        model.tell(events.CheckSkipped(name=broken[0]), "user")
        return
    phase = rnd.choice(["", *beginnings(state)])
    model.tell(events.ChangesRequested(text="more", phase=phase), "user")


def finish(model: Model, *, good: bool) -> None:
    """Let every agent hand in, good or bad, until the user decides; then approve."""
    pipeline = pipeline_of(model.state)
    senders = len([each for each in pipeline.phases if each.on_fail])
    bound = (
        40 * (len(pipeline.phases) + 1) * (1 + senders * (model.state.max_review_iterations + 1))
    )
    if model.state.phase == Phase.FAILED:
        model.kill()
    for _ in range(bound):
        if model.state.phase == Phase.DONE:
            return
        broken = waiting_for_user(model.state, model.state.phase)
        if broken:
            model.tell(events.CheckSkipped(name=broken[0]), "user")
        elif not model.step(good=good):
            assert takes_decision(model.state)
            model.tell(events.Approved(), "user")
    pytest.fail(f"it does not end: {model.state.phase}")


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    [0, *(pytest.param(n, marks=pytest.mark.rare("CI takes a quarter")) for n in (1, 2, 3))],
)
def test_every_history_of_every_pipeline_ends_or_waits_for_its_user(part: int) -> None:
    for seed in range(part * EACH, part * EACH + EACH):
        rnd = random.Random(seed)
        model = Model(definition(rnd), rnd)
        try:
            for _ in history(model):
                pass
            finish(model, good=rnd.random() < 0.5)
            assert fold(model.first, model.journal) == model.state
        except Exception as error:
            error.add_note(f"seed {seed}, {model.state.pipeline}")
            raise
