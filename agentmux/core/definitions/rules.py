"""The rules for a definition whose fields have the right types, for one phase and for all phases.

Every rule yields the violations that it finds, with their lines. Rules that depend on the kind of a
phase do not apply to a phase whose kind is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.shape import as_code
from agentmux.core.definitions.definition import Kind, PhaseDefinition, When
from agentmux.core.definitions.kind_forms import FORMS, KEYS
from agentmux.core.names import layout
from agentmux.core.names.words.nearest import suggestion

_VARIABLE = re.compile(r"\{\{([^{}\n]*)\}\}")
_VARIABLES_SHOWN: Final = 5

RESERVED: Final = frozenset(
    {
        *("done", "failed", "decision", "setup", "user", "orchestrator"),
        *("architecture", "plan", "design", "review", "summary", "hello", "phase", "research"),
        *(layout.RESEARCH, layout.HISTORY, layout.LAUNCHES, layout.SNAPSHOTS, layout.CHECKPOINTS),
        *(layout.WORK_TREE, layout.COPIED, layout.PIPELINE),
    }
)
"""Names that no phase and no folder may have because AgentMux uses them for something else.

They are final phases, seats of AgentMux itself, a goal of ``wait``, signals, and names in a
session's directory.
"""
RESERVED_FILES = re.compile(
    r"(done.*|plan|plan_\d+|tasks_\d+|execution_plan|fix_request|results|request|prompt|changes"
    r"|approval|review|review_.*)\.[a-z0-9]+"
)
"""Matches names of files that AgentMux itself writes or reads in a phase's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a definition may refer to: roles, prompts, schemas and commands that exist.

    Attributes:
        roles: The roles that have an agent.
        prompts: The texts of the existing prompts that the definition refers to, by name.
        schemas: For each existing schema that the definition refers to, by name: what is wrong with
            the schema, or an empty string.
        commands: The names of the commands in ``verify``.
        variables: The names that a prompt may contain in ``{{…}}``.
        wrong: For each prompt or schema that cannot be used, by name: the reason.
    """

    roles: frozenset[str]
    prompts: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    variables: frozenset[str] = field(default_factory=frozenset)
    wrong: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEntry:
    """A phase as it was read from a file, with its line numbers.

    Attributes:
        phase: The phase.
        kind: The kind of the phase. None if it is missing or invalid; then ``phase.kind`` has no
            meaning.
        line: The line at which the phase begins.
        lines: The line of each key of the phase. The items of ``roles`` and ``run`` have the keys
            ``roles NAME`` and ``run NAME``.
    """

    phase: PhaseDefinition
    kind: Kind | None
    line: int
    lines: Mapping[str, int]

    def at(self, key: str) -> int:
        """Return the line of ``key``, or the line of the phase if it does not have the key.

        ``key`` is a key of ``lines``, such as ``kind`` or ``roles coder``.
        """
        return self.lines.get(key, self.line)


Phases = tuple[PhaseEntry, ...]


def compare(phases: Phases, around: Surroundings, *, line: int) -> Iterator[tuple[int, str]]:
    """Compare the phases with the rules, and yield each violation as its line and a description.

    Args:
        phases: The phases, whose fields have the right types.
        around: The roles, prompts, schemas, commands and variables that exist.
        line: The first line of the definition, for violations that concern all phases.
    """
    for each in phases:
        for rule in _EACH:
            for at, what in rule(each, around):
                yield each.at(at), what
    for compared in _ALL:
        yield from compared(phases, line)


# -- one phase: what is wrong, and the key at which ---------------------------------------------

Found = Iterator[tuple[str, str]]
"""Violations in one phase: the key of the phase, and a description."""


def _name(each: PhaseEntry, _: Surroundings) -> Found:
    if each.phase.phase in RESERVED:
        yield "phase", f"{as_code(each.phase.phase)} is a name of AgentMux's own"
    if "folder" in each.lines and each.phase.folder in RESERVED:
        yield "folder", f"{as_code(each.phase.folder)} is a name of AgentMux's own"


def _keys(each: PhaseEntry, _: Surroundings) -> Found:
    for key in KEYS:
        if key in each.lines and each.kind is not None and key not in FORMS[each.kind].keys:
            yield key, f"a {each.kind} has no `{key}`"


def _roles(each: PhaseEntry, around: Surroundings) -> Found:
    roles = each.phase.roles
    for role in roles:
        if role not in around.roles:
            near = suggestion(role[:60], sorted(around.roles))
            yield f"roles {role}", f"no role {as_code(role)}{near}"
    if each.kind is None or "roles" not in FORMS[each.kind].keys:
        return
    if not roles:
        yield "roles", f"a {each.kind} needs `roles`"
    if len(roles) > 1 and FORMS[each.kind].has_one_role:
        yield "roles", f"a {each.kind} has one role, not {len(roles)}"


def _prompt(each: PhaseEntry, around: Surroundings) -> Found:
    if each.kind is not None and "prompt" not in FORMS[each.kind].keys:
        return
    known = [role for role in each.phase.roles if role in around.roles]
    for name in (each.phase.prompt,) if each.phase.prompt else known:
        if name not in around.prompts:
            yield "prompt", _absent("prompt", name, around)
        else:
            yield from _variables(name, around)


def _absent(what: str, name: str, around: Surroundings) -> str:
    why = around.wrong.get(name)
    return f"{what} {as_code(name)}: {why}" if why else f"no {what} {as_code(name)}"


def _variables(name: str, around: Surroundings) -> Found:
    text = around.prompts[name]
    wrong = [m for m in _VARIABLE.finditer(text) if m[1] not in around.variables]
    for match in wrong[:_VARIABLES_SHOWN]:
        line = text.count("\n", 0, match.start()) + 1
        near = suggestion(match[1].strip()[:60], sorted(around.variables))
        yield (
            "prompt",
            f"prompt {as_code(name)}, line {line}: no variable {as_code(match[0])}{near}",
        )


def _leaves(each: PhaseEntry, around: Surroundings) -> Found:
    has_leaves = each.kind is not None and "leaves" in FORMS[each.kind].keys
    if has_leaves and not each.phase.leaves:
        yield "leaves", f"a {each.kind} needs `leaves`: the files that its agent leaves"
    for leaf in each.phase.leaves:
        if RESERVED_FILES.fullmatch(leaf.file):
            yield "leaves", f"{as_code(leaf.file)} is a file of AgentMux's own"
        if leaf.schema and leaf.schema not in around.schemas:
            yield "leaves", _absent("schema", leaf.schema, around)
        elif leaf.schema and around.schemas[leaf.schema]:
            yield "leaves", f"schema {as_code(leaf.schema)}: {around.schemas[leaf.schema]}"


def _when(each: PhaseEntry, _: Surroundings) -> Found:
    is_optional = each.kind is None or FORMS[each.kind].is_optional
    if each.phase.when is not When.ALWAYS and not is_optional:
        yield "when", f"a {each.kind} cannot be left out"


def _run(each: PhaseEntry, around: Surroundings) -> Found:
    for command in each.phase.run:
        if command not in around.commands:
            near = suggestion(command[:60], around.commands)
            yield f"run {command}", f"`verify` has no command {as_code(command)}{near}"


_EACH: Final[tuple[Callable[[PhaseEntry, Surroundings], Found], ...]] = (
    *(_name, _keys, _roles, _prompt),
    *(_leaves, _when, _run),
)

# -- all phases: the line, and what is wrong there ----------------------------------------------

Placed = Iterator[tuple[int, str]]
"""Violations among all phases: the line in the file, and a description."""


def _different(phases: Phases, _: int) -> Placed:
    names: dict[str, PhaseEntry] = {}
    folders: dict[str, PhaseEntry] = {}
    for each in phases:
        name, folder = each.phase.phase, each.phase.folder
        if name and name in names:
            what = f"two phases have the name {as_code(name)}, the first in line {names[name].line}"
            yield each.at("phase"), what
        names.setdefault(name, each)
        if each.kind is Kind.FIX or not folder:  # only a fix may share
            continue
        if folder in folders and names[name] is each:
            first = folders[folder].phase.phase
            yield each.at("folder"), f"the folder {as_code(folder)} is that of {as_code(first)}"
        folders.setdefault(folder, each)


def _ends(phases: Phases, line: int) -> Placed:
    if any(each.kind is None for each in phases):
        return  # the phase with the invalid kind may be the `complete` one
    completes = [each for each in phases if each.kind is Kind.COMPLETE]
    if not completes and phases:
        yield line, "no phase is of the kind `complete`"
    for each in completes[1:]:
        first = completes[0].line
        yield each.at("kind"), f"two phases are of the kind `complete`, the first in line {first}"
    walk = [each for each in phases if each.kind is not Kind.FIX]
    if len(completes) == 1 and walk[-1] is not completes[0]:
        behind = walk[walk.index(completes[0]) + 1]
        yield behind.line, f"a phase comes after {as_code(completes[0].phase.phase)}, the last one"


def _fixes(phases: Phases, _: int) -> Placed:
    fixes = {each.phase.phase for each in phases if each.kind in {Kind.FIX, None}}
    named = {each.phase.on_fail for each in phases}
    for each in phases:
        target = each.phase.on_fail
        if target and target not in fixes:
            near = suggestion(target[:60], sorted(fixes - {""}))
            yield each.at("on_fail"), f"`on_fail` must name a fix, not {as_code(target)}{near}"
        if each.kind is Kind.FIX and each.phase.phase and each.phase.phase not in named:
            yield each.line, f"no `on_fail` names the fix {as_code(each.phase.phase)}"


def _check_shared_folders(phases: Phases, _: int) -> Placed:
    for fix in (each for each in phases if each.kind is Kind.FIX):
        owner = next(
            (each for each in phases if each.phase.folder == fix.phase.folder and each is not fix),
            fix,
        )
        if owner.kind in {Kind.FIX, None}:
            continue
        senders = [each for each in phases if each.phase.on_fail == fix.phase.phase]
        early = [each for each in senders if phases.index(each) < phases.index(owner)]
        if owner.kind is not Kind.WORK or early:
            is_late = owner.kind is Kind.WORK and early
            which = f" that comes before {as_code(early[0].phase.phase)}" if is_late else ""
            yield fix.at("folder"), f"a fix can share only the folder of a work{which}"


def _plans(phases: Phases, _: int) -> Placed:
    plans = [place for place, each in enumerate(phases) if each.kind is Kind.PLAN]
    works = [place for place, each in enumerate(phases) if each.kind is Kind.WORK]
    for place in plans[1:]:
        yield phases[place].at("kind"), "a second plan: the work can follow only one"
    if plans and works and works[0] < plans[0]:
        yield phases[plans[0]].at("kind"), "a plan must come before all work"
    for place, each in enumerate(phases):
        if each.phase.when is When.NEEDS_DESIGN and not any(plan < place for plan in plans):
            what = f"`{When.NEEDS_DESIGN}` needs a plan before it"
            yield each.at("when"), what


_ALL: Final[tuple[Callable[[Phases, int], Placed], ...]] = (
    *(_different, _ends, _fixes, _check_shared_folders, _plans),
)
