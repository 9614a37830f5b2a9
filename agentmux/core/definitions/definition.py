"""The definition of a pipeline: its ordered phases, as values and as fields of a file.

What the kinds of phases do is in `pipeline`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import FieldError, Json

VERSION: Final = 1
"""The version of the format of a definition."""
WHOLE: Final = "definition"
"""The reserved name of the file in which a session stores its pipeline's definition.

Beside the definition, that file contains the session's setup steps, the commands of ``verify`` and
the digests of its prompts and schemas. No prompt or schema can have this name.
"""


class Kind(StrEnum):
    """The kinds of phases; the code of a kind determines what happens in its phases.

    *document*: an agent writes files. *plan*: an agent writes the plan. *work*: the plan is carried
    out. *check*: commands check the work. *review*: reviewers judge the work. *fix*: an agent fixes
    what a check or review has found. *complete*: the result is summarised for the user's decision.
    docs/decisions/0014 says why the kinds are code and not data.
    """

    DOCUMENT = "document"
    PLAN = "plan"
    WORK = "work"
    CHECK = "check"
    REVIEW = "review"
    FIX = "fix"
    COMPLETE = "complete"


class When(StrEnum):
    """The condition under which a session goes through a phase.

    ``always``: there is none. ``requested``: the user requested the phase at the start.
    ``plan.needs_design``: the plan says that a design is needed.
    """

    ALWAYS = "always"
    REQUESTED = "requested"
    NEEDS_DESIGN = "plan.needs_design"


class Expect(StrEnum):
    """What a check expects of its required commands.

    ``pass``: all of them have to pass; ``fail``: at least one of them has to fail.
    """

    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"


class Result(StrEnum):
    """The kind of result that a session has.

    *commit*: a commit, which is delivered. *report*: files in the session's folders.
    """

    COMMIT = "commit"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A file that the agent of a document phase has to write (an entry of ``leaves``).

    Attributes:
        file: Its path, relative to the folder of the phase's artifacts.
        schema: The path of the file with its JSON Schema, relative to the folder of the pipeline's
            definition, such as ``schemas/threats.json``; empty if it has no schema.
    """

    file: str
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseDefinition:
    """The definition of one phase. The attributes are named like the keys in a file.

    Attributes:
        phase: The name of the phase.
        kind: The kind of the phase.
        folder: The folder of its artifacts, relative to the session's directory.
        roles: The roles that work in it; the first one starts it. Empty for a check.
        prompt: The name of the prompt for all its roles; empty if each role uses the prompt with
            the role's name.
        leaves: The files that the agent of a `Kind.DOCUMENT` has to write, relative to ``folder``.
        when: The condition under which a session goes through the phase.
        on_fail: The name of the fix phase that follows if this check or review fails; empty for
            none.
        run: The names of the commands that a check runs; empty for all commands.
        expect: Whether all required commands of a check have to pass, or one of them has to fail.
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
    """The definition of a pipeline.

    Attributes:
        name: The name of the pipeline.
        phases: All phases, in the order of the walk. The position of ``fix`` phases has no meaning:
            they are entered only through the ``on_fail`` of another phase.
        result: What a session with this pipeline leaves.
    """

    name: str
    phases: tuple[PhaseDefinition, ...]
    result: Result = Result.COMMIT

    @property
    def walk(self) -> tuple[PhaseDefinition, ...]:
        """The phases that a session goes through one after the other: all except fixes."""
        return tuple(each for each in self.phases if each.kind is not Kind.FIX)

    @property
    def only_reviews(self) -> bool:
        """Whether it reviews a branch that the user has to name, and changes nothing itself."""
        kinds = {each.kind for each in self.phases}
        return Kind.REVIEW in kinds and not kinds & {Kind.WORK, Kind.FIX}


LOOKING: Final = frozenset({Kind.CHECK, Kind.REVIEW})
"""The kinds of phases that examine work and may require a fix of it."""


def first_after_fix(pipeline: PipelineDefinition, failed: str) -> str:
    """Return the name of the phase that follows the fix for a failed check or review.

    It is the first check or review after the last work phase before ``failed``, so that everything
    that examined the work examines it again.

    Args:
        pipeline: The pipeline.
        failed: The name of the check or review that failed; the pipeline must contain it.
    """
    walk = pipeline.walk
    end = next(place for place, each in enumerate(walk) if each.phase == failed)
    works = [place for place, each in enumerate(walk[:end]) if each.kind is Kind.WORK]
    begin = works[-1] if works else 0
    return next(each.phase for each in walk[begin:] if each.kind in LOOKING)


def definition_fields(pipeline: PipelineDefinition) -> Json:
    """Return a pipeline as plain values, in the format of its file, for JSON or YAML.

    The keys are ``version``, ``name``, ``result`` and ``phases``. Fields of phases that have their
    defaults are left out. `check_definition` and `definition_from` read the result.
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
    """Return the pipeline from plain values that `definition_fields` made.

    Use this for values from AgentMux's own state and journal; a file that a person wrote is read
    by `check_definition` instead.

    Args:
        value: The plain values.
        where: Where the values were read, such as a file name; for the message of an error.

    Raises:
        FieldError: ``value`` is not such a pipeline.
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
