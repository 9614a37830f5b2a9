"""Builders for the core's tests: plans, events, sessions and fake disks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentmux.core.codec.frozen import replace
from agentmux.core.codec.records import Json, to_fields
from agentmux.core.documents.plan import check_execution_plan, check_plan
from agentmux.core.documents.review import (
    Verdict,
    check_nominations,
    check_review,
    verdict_in,
)
from agentmux.core.documents.review import review_files as names_of
from agentmux.core.fold.acceptance import Answer, Judgement, judge
from agentmux.core.fold.apply import advance
from agentmux.core.fold.implied import derive_files
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import (
    AgentLaunched,
    ArchitectureDone,
    CodeDone,
    Event,
    Fact,
    PlanDone,
    ReviewDone,
    SummaryDone,
)
from agentmux.core.journal.state import Seat, SessionState, decode
from agentmux.core.names.phase import REVIEWERS, Phase
from agentmux.core.pipeline.artifacts import (
    ARCHITECTURE,
    Artifacts,
    fix_request,
    kept_fix_request,
)
from agentmux.core.pipeline.on_disk import state_from_disk
from agentmux.core.pipeline.results import result_of

LOGIC, QUALITY, EXPERT = REVIEWERS
AT = "2026-01-01T10:15:00Z"
EXECUTION_PLAN = "04_planning/execution_plan.yaml"
FIX_REQUEST = "07_review/fix_request.md"
REVIEW_MD = "07_review/review.md"
_OLDER = ("review_iteration", "review_outcome", "verdicts", "reviews")


def plan(*groups: tuple[str, list[int]], needs_design: bool = False) -> dict[str, Any]:
    """Return a valid ``plan.yaml``: ``plan(("parallel", [1, 2]), ("serial", [3]))``."""
    indices = sorted(i for _, members in groups for i in members)
    return {
        "version": 2,
        "plan_overview": "what is to be done",
        "needs_design": needs_design,
        "needs_docs": False,
        "doc_files": [],
        "groups": [
            {
                "group_id": f"g{number}",
                "mode": mode,
                "plans": [{"index": i, "name": f"part {i}"} for i in members],
            }
            for number, (mode, members) in enumerate(groups, start=1)
        ],
        "subplans": [
            {
                "index": i,
                "title": f"Part {i}",
                "scope": "some",
                "owned_files": [f"src/{i}.py"],
                "dependencies": [],
                "implementation_approach": "how",
                "acceptance_criteria": ["it works"],
                "tasks": ["do it"],
            }
            for i in indices
        ],
    }


def execution_plan(*groups: tuple[str, list[int]], needs_design: bool = False) -> str:
    """Return the text of the ``execution_plan.yaml`` of such a plan."""
    made, problems = check_plan(plan(*groups, needs_design=needs_design))
    assert made is not None, problems
    return json.dumps(made.execution.to_fields())


def review(verdict: str, **changed: Any) -> dict[str, Any]:
    finding = {"location": "a.py:1", "issue": "wrong", "severity": "high", "recommendation": "mend"}
    return {
        "verdict": verdict,
        "summary": f"it is a {verdict}",
        "findings": [finding] if verdict == "fail" else [],
        **changed,
    }


def seat(launch: str = "l1", role: str = "coder", **changed: Any) -> Seat:
    values: dict[str, Any] = {
        "launch": launch, "role": role, "phase": "implementing", "mode": "fresh",
        "reason": "first", "since": AT, **changed,
    }  # fmt: skip
    return Seat(**values)


def event(fact: Fact, seat: str = "orchestrator", launch: str = "", **changed: Any) -> Event:
    values: dict[str, Any] = {
        "id": f"{fact.kind}-{seat}-{launch}", "at": AT, "seat": seat, "launch": launch,
        "cycle": 1, "fact": fact, **changed,
    }  # fmt: skip
    return Event(**values)


# -- states --------------------------------------------------------------------------------------


def state_of(
    phase: str, files: Mapping[str, str] | None = None, *, asked: bool | None = None, **values: Any
) -> SessionState:
    """Return a state of `feature`; fields that only older states have are brought into its form.

    ``asked`` says whether a fix was asked for; with ``files``, these say so.
    """
    known = phase if phase in tuple(Phase) else Phase.FAILED  # of another pipeline
    own = {"phase": known, **{name: values.pop(name) for name in _OLDER if name in values}}
    values["phase"] = phase
    made = replace(decode(own, where="a test", fix_requested=asked), **values)
    if files is None:
        return made
    fix = any(files.get(path) for path in (fix_request(made), kept_fix_request(made)))
    return replace(decode(own, where="a test", fix_requested=fix), **values)


def outcome_of(state: SessionState) -> str | None:
    """Return the outcome of the review of `feature`; None while it is open, and after a fail."""
    outcome = result_of(state, Phase.REVIEWING).outcome
    return None if outcome in {"", "failed"} else outcome


# -- a session to which facts are applied --------------------------------------------------------


class Session:
    """A session to which facts are applied; it keeps the files that the last one implied."""

    def __init__(self, phase: Phase | SessionState = Phase.ARCHITECTING, **values: Any) -> None:
        values.setdefault("journal_id", "j")
        made = phase if isinstance(phase, SessionState) else state_of(phase, **values)
        self.state: SessionState = made
        self.files: tuple[Implied, ...] = ()
        self._numbers = itertools.count(1)

    def tell(
        self, fact: Fact, seat: str = "orchestrator", launch: str = "", **changed: Any
    ) -> SessionState:
        """Apply a fact; a signal is applied whether it is accepted or not."""
        changed.setdefault("id", f"e{next(self._numbers)}")
        changed.setdefault("cycle", self.state.cycle)
        told = event(fact, seat, launch, **changed)
        before = self.state
        self.state = advance(before, told, before.applied_offset + 100)
        self.files = derive_files(before, told, self.state)
        return self.state

    def judge(self, fact: Fact, seat: str, launch: str | None = None, **changed: Any) -> Judgement:
        launch = self.state.seats[seat].launch if launch is None else launch
        changed.setdefault("cycle", self.state.cycle)
        return judge(self.state, event(fact, seat, launch, **{"id": "new", **changed}))

    def launch(self, seat: str, role: str | None = None, **values: Any) -> str:
        """Record a launch for a seat; return its id."""
        launch = f"l{next(self._numbers)}"
        values = {"record": {}, "mode": "fresh", "reason": "first", **values}
        self.tell(AgentLaunched(role=role or seat, **values), seat, launch)
        return launch

    def signal(self, seat: str, fact: Fact, role: str | None = None, **values: Any) -> SessionState:
        """Apply a seat's signal, which must be accepted; launch the seat first if necessary."""
        if seat not in self.state.seats:
            self.launch(seat, role, **values)
        launch = self.state.seats[seat].launch
        answer = self.judge(fact, seat, launch)
        assert answer.answer is Answer.ACCEPTED, answer
        return self.tell(fact, seat, launch)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files that the last event added."""
        return tuple(each.path for each in self.files)

    def text(self, path: str) -> str:
        """Return the text of the file that the last event added at ``path``."""
        return next(each.text for each in self.files if each.path == path and each.text is not None)

    # -- whole phases ----------------------------------------------------------------------------

    def architected(self, *reviewers: str) -> Session:
        self.signal("architect", ArchitectureDone(reviewers=reviewers or (LOGIC,)))
        return self

    def planned(self, *groups: tuple[str, list[int]], needs_design: bool = False) -> Session:
        fields = plan(*(groups or (("serial", [1]),)), needs_design=needs_design)
        self.signal("planner", PlanDone(plan=fields))
        return self

    def coded(self, *indices: int) -> Session:
        for index in indices:
            single = self.state.implementation_single_coder
            name = "coder" if single else f"coder-{index}"
            subplan = None if single else index
            self.signal(name, CodeDone(subplan_index=index), "coder", subplan=subplan)
        return self

    def reviewed(self, role: str, verdict: str) -> Session:
        self.signal(role, ReviewDone(role=role, verdict=verdict, review=review(verdict)))
        return self

    def fixed(self) -> Session:
        self.signal("coder", CodeDone())
        return self

    def summed_up(self) -> Session:
        self.signal(self.state.reviewer_nominations[0], SummaryDone())
        return self


def at(phase: Phase, *reviewers: str, **values: Any) -> Session:
    """Return a session with one sub-plan that has reached ``phase`` by signals only."""
    nominated = reviewers or (LOGIC,)
    session = Session(Phase.ARCHITECTING, **values)
    if phase != Phase.ARCHITECTING:
        session.architected(*nominated)
    if phase not in {Phase.ARCHITECTING, Phase.PLANNING}:
        session.planned(needs_design=phase == Phase.DESIGNING)
    if phase in {Phase.REVIEWING, Phase.FIXING, Phase.COMPLETING}:
        session.coded(1)
    if phase == Phase.FIXING:
        session.reviewed(nominated[0], "fail")
    if phase == Phase.COMPLETING:
        for role in nominated:
            session.reviewed(role, "pass")
    assert session.state.phase == phase
    return session


# -- disks ---------------------------------------------------------------------------------------

_REVIEW_PATHS = {
    f"07_review/{name}": role for role in REVIEWERS for name in names_of(role, alone=True)
}


def artifacts(files: Mapping[str, str], absent: Iterable[str] = ()) -> Artifacts:
    """Return the artifacts that a reader finds in these files; never raises.

    Args:
        files: Path to text; mappings are JSON.
        absent: Paths that do not count; neither do those below them.
    """
    gone = tuple(absent)
    counted = {
        path: text
        for path, text in files.items()
        if not any(path == each or path.startswith(f"{each}/") for each in gone)
    }
    execution, problems = None, {}
    if EXECUTION_PLAN in counted:
        execution, _ = check_execution_plan(_parsed(counted[EXECUTION_PLAN]))
        if execution is None:
            problems[EXECUTION_PLAN] = "not valid"
    verdicts: dict[str, Verdict] = {}
    reviews: dict[str, Json] = {}
    for path, role in _REVIEW_PATHS.items():
        checked, _ = check_review(_parsed(counted.get(path, "")), role, strict=False)
        if path in counted and checked is not None:
            verdicts[path] = checked.verdict
            reviews[path] = checked.to_fields()
    lone = verdict_in(counted.get(REVIEW_MD, ""))
    if lone is not None:
        verdicts[REVIEW_MD] = lone
    return Artifacts(
        sizes={path: len(text) for path, text in counted.items()},
        execution_plan=execution,
        nominations=_front_matter(counted.get(ARCHITECTURE, "")),
        verdicts=verdicts,
        reviews=reviews,
        problems=problems,
    )


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _front_matter(text: str) -> tuple[str, ...] | None:
    head, _, _ = text.partition("\n")
    if not head.startswith("reviewers: "):
        return None
    return check_nominations(head.removeprefix("reviewers: "))[0]


def found_fields(state: SessionState, disk: Artifacts) -> dict[str, Any]:
    """Return the ``found`` of a ``resumed`` or ``phase_settled`` event, as in its journal line."""
    made: dict[str, Any] = json.loads(json.dumps(to_fields(state_from_disk(state, disk))))
    return made
