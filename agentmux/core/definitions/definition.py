"""A pipeline as a value: its phases in order, as its file has them. What kinds do: `pipeline`."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import FieldError, Json

VERSION: Final = 1
"""The version of the form of a definition."""
WHOLE: Final = "definition"
"""The name of the frozen file with all that a session freezes; no prompt or schema can have it."""


class Kind(StrEnum):
    """What is done in a phase. Each kind is code; docs/decisions/0014 says why."""

    DOCUMENT = "document"
    PLAN = "plan"
    WORK = "work"
    CHECK = "check"
    REVIEW = "review"
    FIX = "fix"
    COMPLETE = "complete"


class When(StrEnum):
    """When a session goes through a phase."""

    ALWAYS = "always"
    REQUESTED = "requested"
    NEEDS_DESIGN = "plan.needs_design"


class Expect(StrEnum):
    """What a check expects of its commands: that they succeed, or that one of them fails."""

    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"


class Result(StrEnum):
    """What a session leaves: a commit, which is delivered, or only its files, a report."""

    COMMIT = "commit"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A file that an agent leaves; ``schema`` names its JSON Schema, and is empty for a text."""

    file: str
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDefinition:
    """One phase. The attributes have the names that they have in a file.

    Attributes:
        phase: The name of the phase.
        folder: The folder of its artifacts, relative to the session's.
        roles: The roles that work in it; the first one starts it. Empty for a check.
        prompt: The name of the prompt, for all its roles; empty: each role has its own.
        leaves: What the agent of a document leaves, relative to ``folder``.
        on_fail: The phase that mends what a check or review has found; empty for none.
        run: The names of the commands that a check runs; empty for all.
    """

    phase: str
    kind: Kind
    folder: str
    roles: tuple[str, ...] = ()
    prompt: str = ""
    leaves: tuple[Leaf, ...] = ()
    when: When = When.ALWAYS
    on_fail: str = ""
    run: tuple[str, ...] = ()
    expect: Expect = Expect.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDefinition:
    """A pipeline: its phases in the order of the walk.

    A ``fix`` phase may be anywhere among them. It has no place in the walk: only ``on_fail`` leads
    to it.
    """

    name: str
    phases: tuple[PhaseDefinition, ...]
    result: Result = Result.COMMIT

    @property
    def walk(self) -> tuple[PhaseDefinition, ...]:
        """The phases that a session goes through one after the other."""
        return tuple(each for each in self.phases if each.kind is not Kind.FIX)


LOOKING: Final = frozenset({Kind.CHECK, Kind.REVIEW})
"""The kinds that look at work, and may ask for a fix of it."""


def first_after_fix(pipeline: PipelineDefinition, failed: str) -> str:
    """Return the phase in which the walk goes on after what ``failed`` found was mended.

    It is the first check or review behind the last work before the phase that failed: everything
    that looked at that work looks again.

    Args:
        failed: The name of a check or a review of the pipeline.
    """
    walk = pipeline.walk
    end = next(place for place, each in enumerate(walk) if each.phase == failed)
    works = [place for place, each in enumerate(walk[:end]) if each.kind is Kind.WORK]
    begin = works[-1] if works else 0
    return next(each.phase for each in walk[begin:] if each.kind in LOOKING)


def definition_fields(pipeline: PipelineDefinition) -> Json:
    """Return a pipeline as its file has it; `check_definition` and `definition_from` are inverses.

    What a phase leaves to the default is left out.
    """
    return {
        "version": VERSION,
        "name": pipeline.name,
        "result": pipeline.result.value,
        "phases": [_phase_fields(each) for each in pipeline.phases],
    }


def _phase_fields(phase: PhaseDefinition) -> Json:
    fields: dict[str, object] = {
        "phase": phase.phase,
        "kind": phase.kind.value,
        "folder": phase.folder if phase.folder != phase.phase else "",
        "roles": list(phase.roles),
        "prompt": phase.prompt,
        "leaves": [_leaf_fields(each) for each in phase.leaves],
        "when": "" if phase.when is When.ALWAYS else phase.when.value,
        "on_fail": phase.on_fail,
        "run": list(phase.run),
        "expect": "" if phase.expect is Expect.PASS else phase.expect.value,
    }
    return {name: value for name, value in fields.items() if value}


def definition_from(value: object, where: str) -> PipelineDefinition:
    """Return the pipeline that `definition_fields` returned, as state and journal have it.

    A file of a person is read by `check_definition` instead.

    Raises:
        FieldError: ``value`` is not such a pipeline. The message names ``where``, its place.
    """
    try:
        return _pipeline_from(_mapping(value))
    except (KeyError, TypeError, ValueError) as error:
        raise FieldError(f"{where}: not a pipeline: {error}") from None


def _pipeline_from(fields: Json) -> PipelineDefinition:
    if fields["version"] != VERSION:
        raise ValueError(f"version {fields['version']}")
    return PipelineDefinition(
        name=_text(fields["name"]),
        result=Result(_text(fields["result"])),
        phases=tuple(_phase_from(_mapping(each)) for each in _items(fields["phases"])),
    )


def _phase_from(fields: Json) -> PhaseDefinition:
    name = _text(fields["phase"])
    return PhaseDefinition(
        phase=name,
        kind=Kind(_text(fields["kind"])),
        folder=_text(fields.get("folder", name)),
        roles=tuple(map(_text, _items(fields.get("roles", ())))),
        prompt=_text(fields.get("prompt", "")),
        leaves=tuple(map(_leaf_from, _items(fields.get("leaves", ())))),
        when=When(_text(fields.get("when", When.ALWAYS))),
        on_fail=_text(fields.get("on_fail", "")),
        run=tuple(map(_text, _items(fields.get("run", ())))),
        expect=Expect(_text(fields.get("expect", Expect.PASS))),
    )


def _leaf_from(value: object) -> Leaf:
    if isinstance(value, str):
        return Leaf(file=value)
    fields = _mapping(value)
    return Leaf(file=_text(fields["file"]), schema=_text(fields["schema"]))


def _mapping(value: object) -> Json:
    if not isinstance(value, dict):
        raise TypeError("a mapping is missing")
    return value


def _items(value: object) -> list[object]:
    if not isinstance(value, (list, tuple)):
        raise TypeError("a list is missing")
    return list(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value


def _leaf_fields(leaf: Leaf) -> object:
    return {"file": leaf.file, "schema": leaf.schema} if leaf.schema else leaf.file
