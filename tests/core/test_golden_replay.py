"""Sessions recorded by each release still infer, decide and lay their files as they did.

Each journal is replayed event by event over a disk in memory: first the agent's own artifact, then
the event with its files and moves. A transcript, which stands beside the journal, says after each
step which files were laid, which phase a resume would infer, and what the session would do next.

A changed transcript needs a decision in docs/decisions/. To add a release, put its journals beside
the others, and run this file as a program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentmux.core.codec.frozen import fields, replace
from agentmux.core.decisions.inference import Inference, infer
from agentmux.core.decisions.next_actions import Facts, LaunchFact, next_actions
from agentmux.core.documents.review import review_file
from agentmux.core.fold.apply import advance
from agentmux.core.fold.implied import derive_files
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import (
    ArchitectureDone,
    ArtifactsArchived,
    DesignDone,
    Event,
    PlanDone,
    PmDone,
    ResearchDone,
    ReviewDone,
    SummaryDone,
    parse,
)
from agentmux.core.journal.state import ArchivedArtifacts, SessionState
from agentmux.core.names.phase import Phase
from tests.core.builders import artifacts

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CASES = sorted(GOLDEN.glob("*/*.jsonl"))
_REPEATED = ("  infers", "  next", "  phase")
_DECISIVE = (
    "01_product_management/done", "02_architecting/architecture.md",
    "04_planning/execution_plan.yaml", "06_implementation/done_1", "07_review/review_logic.yaml",
    "07_review/fix_request.md",
)  # fmt: skip


def transcript(journal: Path) -> str:
    """Replay a journal and return what was laid, inferred and decided at each step.

    A line that says the same as the last one of its kind is left out.
    """
    said: dict[str, str] = {}
    kept = []
    for line in _lines(journal):
        head, _, text = line.partition(": ")
        if said.get(head) != text:
            kept.append(line)
        if head.startswith(_REPEATED):
            said[head] = text
    return "\n".join(kept) + "\n"


def _lines(journal: Path) -> Iterator[str]:
    """Yield what is said at each step.

    The files that decide are also lost, one by one: then state and artifacts disagree.
    """
    state, files = SessionState(phase=Phase.FAILED), dict[str, str]()
    for line in journal.read_bytes().splitlines():
        event = parse(json.loads(line))
        yield f"{event.fact.kind} {event.seat}"
        draft = _own_artifact(event)
        if draft:
            files.update(draft)
            yield f"  draft: {', '.join(draft)}"
            yield from _inferred("  draft infers", state, files)
        before, state = state, advance(state, event, state.applied_offset + 100)
        added = derive_files(before, event, state)
        for each in added:
            _add(files, each)
        if isinstance(event.fact, ArtifactsArchived):
            _move(files, before.pending_archive)
        yield from (f"  adds {each.path}" for each in added)
        yield from (f"  moves {_text(each)}" for each in state.pending_archive)
        yield f"  phase: {state.phase} {state.cycle}.{state.iteration}"
        yield from _inferred("  infers", state, files)
        yield from _decided(state, files)
    yield "files"
    for path, text in sorted(files.items()):
        yield f"  {path} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _inferred(head: str, state: SessionState, files: Mapping[str, str]) -> Iterator[str]:
    disk = artifacts(files, [path for each in state.pending_archive for path in each.paths])
    yield f"{head}: {_said(infer(state, disk))}"
    yield f"{head} by artifacts: {_said(infer(state, disk, state_is_known=False))}"
    others = (f"{phase} {infer(replace(state, phase=phase), disk).phase}" for phase in Phase)
    yield f"{head} if the state said: {', '.join(others)}"
    for path in (path for path in _DECISIVE if path in files):
        less = artifacts({each: text for each, text in files.items() if each != path})
        lost, pending = infer(state, less), infer(state, less, pending=1)
        yield f"{head} without {path}: {_said(lost)}; pending: {pending.phase}"


def _said(found: Inference) -> str:
    evidence = "; ".join(
        f"{each.phase} {'+' if each.complete else '-'} {each.because} [{' '.join(each.paths)}]"
        for each in found.evidence
    )
    return f"{found.phase} ({found.because}; {found.disagreement}): {evidence}"


def _decided(state: SessionState, files: Mapping[str, str]) -> Iterator[str]:
    """Yield the next actions: while all agents run, after a loss of all panes, after a resume."""
    facts = Facts(artifacts=artifacts(files))
    alive = {seat.launch: LaunchFact(pane="%1", alive=True) for seat in state.seats.values()}
    resumed = replace(state, last_event="resumed", seats={}, pending_archive=())
    for head, here, seen in (
        ("next", state, replace(facts, launches=alive)),
        ("next without panes", state, facts),
        ("next after a resume", resumed, facts),
    ):
        yield f"  {head}: {', '.join(map(_text, next_actions(here, seen)))}"


def _own_artifact(event: Event) -> dict[str, str]:
    """Return what the agent has left before this signal; the journal has the content of some."""
    match event.fact:
        case PmDone():
            return {"01_product_management/requirements.md": "what is wanted"}
        case ArchitectureDone(reviewers=named):
            return {"02_architecting/architecture.md": f"reviewers: {', '.join(named)}\nhow"}
        case ResearchDone(research=kind, topic=topic):
            folder = f"03_research/{kind}-{topic}"
            return {f"{folder}/summary.md": "short", f"{folder}/detail.md": "long"}
        case PlanDone(plan=plan):
            return {"04_planning/plan.yaml": json.dumps(plan)}
        case DesignDone():
            return {"05_design/design.md": "how it looks"}
        case ReviewDone(role=role, review=review):
            return {f"07_review/{review_file(role)}": json.dumps(review)}
        case SummaryDone():
            return {"08_completion/summary.md": "what was done"}
        case _:
            return {}


def _add(files: dict[str, str], each: Implied) -> None:
    if each.copy_of is not None:
        if each.path not in files and each.copy_of in files:
            files[each.path] = files[each.copy_of]
    elif each.fields is not None:
        files[each.path] = json.dumps(each.fields)
    else:
        files[each.path] = each.text or ""


def _move(files: dict[str, str], archives: tuple[ArchivedArtifacts, ...]) -> None:
    for archive in archives:
        for path in [path for path in files if archive.takes(path)]:
            files[f"{archive.to}/{path}"] = files.pop(path)


def _text(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return records as lists of their name and fields, and names of phases as plain texts."""
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    named = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [type(value).__name__, {name: each for name, each in named.items() if each}]


@pytest.mark.parametrize("journal", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_session_is_replayed_as_it_was(journal: Path) -> None:
    recorded = journal.with_suffix(".replay.txt").read_text(encoding="utf-8")
    assert transcript(journal).splitlines() == recorded.splitlines()


def test_the_transcripts_cover_every_phase_of_every_kind_of_step() -> None:
    """What no recorded session goes through, no transcript protects."""
    texts = [case.with_suffix(".replay.txt").read_text(encoding="utf-8") for case in CASES]
    heads = {
        line.split()[1]
        for text in texts
        for line in text.splitlines()
        if line.startswith("  phase: ")
    }
    assert heads >= {phase.value for phase in Phase} - {Phase.DESIGNING, Phase.FAILED}
    for head in ("infers", "draft infers", "next", "adds", "moves"):
        assert any(f"\n  {head}" in text for text in texts), head


if __name__ == "__main__":
    for case in CASES:
        recorded = case.with_suffix(".replay.txt")
        if not recorded.exists():
            recorded.write_text(transcript(case), encoding="utf-8")
