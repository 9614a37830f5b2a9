"""The plan that a planner writes (``plan.yaml``, version 2), and the `ExecutionPlan` in it.

The functions take the parsed content of a file: ``str | int | bool | None | list | dict``.
Source of every rule: docs/reference/artifacts.md.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeVar

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import Fields, Shape, describe_value

VERSION: Final = 2
"""The version of the formats of ``plan.yaml`` and ``execution_plan.yaml``."""

_PLAN_FIELDS = (
    "version", "plan_overview", "needs_design", "needs_docs", "doc_files", "groups", "subplans",
)  # fmt: skip
_SUBPLAN_FIELDS = (
    "index", "title", "scope", "owned_files", "dependencies", "implementation_approach",
    "acceptance_criteria", "tasks",
)  # fmt: skip
_Value = TypeVar("_Value", int, str)
_FILE = re.compile(r"(?:.*/)?plan_([1-9][0-9]{0,5})\.md")


class GroupMode(StrEnum):
    """How the sub-plans of a group are carried out.

    *serial*: one after the other. *parallel*: at the same time.
    """

    SERIAL = "serial"
    PARALLEL = "parallel"


def subplan_file(index: int) -> str:
    """Return the name of a sub-plan's file in the planning folder, such as ``plan_1.md`` for 1."""
    return f"plan_{index}.md"


def tasks_file(index: int) -> str:
    """Return the name of the file with a sub-plan's tasks, such as ``tasks_1.md`` for 1.

    The file is in the planning folder; sub-plans count from 1.
    """
    return f"tasks_{index}.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRef:
    """A group's reference to a sub-plan, by the sub-plan's index and name."""

    index: int
    name: str

    @property
    def file(self) -> str:
        """The name of the sub-plan's file in the planning folder."""
        return subplan_file(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of sub-plans; the groups of a plan are carried out one after the other.

    Attributes:
        group_id: A name that no other group of the plan has.
        mode: ``serial`` if the sub-plans of the group are carried out one after the other,
            ``parallel`` if at the same time.
        plans: The sub-plans of the group.
    """

    group_id: str
    mode: GroupMode
    plans: tuple[PlanRef, ...]

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices of the sub-plans, in the group's order."""
        return tuple(plan.index for plan in self.plans)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionPlan:
    """The part of a plan that the orchestrator needs; sub-plans have the indices 1, 2, 3, ….

    Attributes:
        needs_design: Whether a design phase is needed.
        needs_docs: Whether documentation has to be updated.
        doc_files: The paths of that documentation, relative to the project.
        groups: The groups of sub-plans, in the order in which they are carried out.
    """

    needs_design: bool
    needs_docs: bool
    doc_files: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def subplan_count(self) -> int:
        """The number of sub-plans in all groups."""
        return sum(len(group.plans) for group in self.groups)

    def name(self, index: int) -> str:
        """Return the name of the sub-plan with this index, from 1; empty if there is none."""
        names = (plan.name for group in self.groups for plan in group.plans if plan.index == index)
        return next(names, "")

    def to_fields(self) -> dict[str, object]:
        """Return the content of ``execution_plan.yaml`` as plain values; writes no file.

        `check_execution_plan` reads them.
        """
        return {
            "version": VERSION,
            "subplan_count": self.subplan_count,
            "needs_design": self.needs_design,
            "needs_docs": self.needs_docs,
            "doc_files": list(self.doc_files),
            "groups": [_group_fields(group) for group in self.groups],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Subplan:
    """The part of a plan that one coder carries out.

    Attributes:
        index: The number of the sub-plan in the plan, from 1.
        scope: What belongs to the sub-plan, one text for each point. The attributes
            ``implementation_approach``, ``acceptance_criteria`` and ``tasks`` have the same form.
        owned_files: The files that the sub-plan changes, as normalised paths relative to the
            project. A directory stands for all files in it. Sub-plans of a parallel group own no
            file in common.
        dependencies: What the sub-plan depends on: indices of other sub-plans as text, or free
            text.
        isolation_rationale: Why the sub-plan can be carried out on its own; may be empty.
    """

    index: int
    title: str
    scope: tuple[str, ...]
    owned_files: tuple[str, ...]
    dependencies: tuple[str, ...]
    implementation_approach: tuple[str, ...]
    acceptance_criteria: tuple[str, ...]
    tasks: tuple[str, ...]
    isolation_rationale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A valid plan (``plan.yaml``), with its sub-plans in the order of their indices.

    ``overview`` describes the whole plan; ``execution`` is what the orchestrator needs of it.
    """

    overview: str
    subplans: tuple[Subplan, ...]
    execution: ExecutionPlan

    def subplan(self, index: int) -> Subplan:
        """Return the sub-plan with this index, which must exist; indices count from 1."""
        return self.subplans[index - 1]


def check_plan(value: object) -> tuple[Plan | None, tuple[str, ...]]:
    """Validate ``value``, the parsed content of ``plan.yaml``; never raises.

    Returns:
        A pair: the plan, or None if there are problems; and all problems, each as
        ``<place>: <description>``.
    """
    shape = Shape("plan.yaml")
    top = shape.mapping(value, "", required=_PLAN_FIELDS)
    _check_version(top)
    overview = top.text("plan_overview")
    subplans = tuple(_subplan(shape, entry, at) for at, entry in top.items("subplans", some=True))
    execution = ExecutionPlan(
        needs_design=top.flag("needs_design"),
        needs_docs=top.flag("needs_docs"),
        doc_files=_paths(top, "doc_files"),
        groups=tuple(_group(shape, entry, at) for at, entry in top.items("groups", some=True)),
    )
    _check_indices(shape, [subplan.index for subplan in subplans])
    _check_membership(shape, subplans, execution.groups)
    _check_overlaps(shape, subplans, execution.groups)
    if shape.problems:
        return None, shape.problems
    ordered = tuple(sorted(subplans, key=lambda subplan: subplan.index))
    return Plan(overview=overview, subplans=ordered, execution=execution), ()


def _check_version(top: Fields) -> None:
    version = top.values.get("version", VERSION)
    if type(version) is not int or version != VERSION:
        top.shape.note(top.at("version"), f"expected {VERSION}, found {describe_value(version)}")


def _subplan(shape: Shape, value: object, place: str) -> Subplan:
    fields = shape.mapping(
        value, place, required=_SUBPLAN_FIELDS, optional=("isolation_rationale",)
    )
    rationale = fields.values.get("isolation_rationale")
    return Subplan(
        index=fields.number("index"),
        title=fields.text("title"),
        scope=fields.texts("scope", some=True),
        owned_files=_paths(fields, "owned_files"),
        dependencies=_dependencies(fields),
        implementation_approach=fields.texts("implementation_approach", some=True),
        acceptance_criteria=fields.texts("acceptance_criteria", some=True),
        tasks=fields.texts("tasks", some=True),
        isolation_rationale=fields.text("isolation_rationale") if rationale else "",
    )


def _dependencies(fields: Fields) -> tuple[str, ...]:
    """Return the field ``dependencies``: indices or texts, as a list or a single value."""
    value = fields.values.get("dependencies")
    if value is None or value == "":
        return ()
    place = fields.at("dependencies")
    entries = fields.items("dependencies") if isinstance(value, list) else [(place, value)]
    return tuple(_dependency(fields.shape, entry, at) for at, entry in entries)


def _dependency(shape: Shape, value: object, place: str) -> str:
    if type(value) is int:
        return str(shape.number(value, place))
    return shape.text(value, place)


def _paths(fields: Fields, key: str) -> tuple[str, ...]:
    return tuple(_path(fields.shape, entry, place) for place, entry in fields.items(key))


def _path(shape: Shape, value: object, place: str) -> str:
    """Return the path ``value``, normalised; if it is invalid, note a problem and return ``""``."""
    text = shape.text(value, place)
    if not text:
        return ""
    if text.startswith(("/", "~")):
        shape.note(place, f"`{text}` is not relative to the project")
        return ""
    if ".." in text.split("/"):
        shape.note(place, f"`{text}` contains `..`, it must stay inside the project")
        return ""
    if not text.isprintable():
        shape.note(place, f"{text!r} contains a control character")
        return ""
    return posixpath.normpath(text)


def _group(shape: Shape, value: object, place: str) -> Group:
    fields = shape.mapping(value, place, required=("group_id", "mode", "plans"))
    refs = [
        shape.mapping(entry, at, required=("index", "name"))
        for at, entry in fields.items("plans", some=True)
    ]
    return Group(
        group_id=_group_id(fields),
        mode=_mode(fields),
        plans=tuple(PlanRef(index=ref.number("index"), name=ref.text("name")) for ref in refs),
    )


def _group_id(fields: Fields) -> str:
    value = fields.values.get("group_id")
    # `group_id: 1` is what people write; YAML makes a number of it.
    return describe_value(value) if type(value) is int else fields.text("group_id")


def _mode(fields: Fields) -> GroupMode:
    value = fields.values.get("mode", GroupMode.SERIAL)
    if value in tuple(GroupMode):
        return GroupMode(str(value))
    fields.shape.note(
        fields.at("mode"), f"expected `serial` or `parallel`, found {describe_value(value)}"
    )
    return GroupMode.SERIAL


def _check_indices(shape: Shape, indices: list[int]) -> None:
    """Add a problem to ``shape`` for each repeated index, and one if they are not 1, 2, 3, ….

    An index of 0 stands for an invalid one, which was reported already; then gaps are not reported.
    """
    for index in _find_repeated(indices):
        shape.note("subplans", f"index {index} is used more than once")
    known = set(indices)
    if 0 not in known and known != set(range(1, len(known) + 1)):
        given = ", ".join(map(str, sorted(known)))
        shape.note("subplans", f"indices must run from 1 without gaps, found {given}")


def _check_membership(
    shape: Shape, subplans: tuple[Subplan, ...], groups: tuple[Group, ...]
) -> None:
    """Add a problem to ``shape`` for each sub-plan that is not in exactly one group.

    Do the same for each repeated ``group_id``, and for each reference of a group or dependency to
    an unknown sub-plan.
    """
    for group_id in _find_repeated([group.group_id for group in groups]):
        shape.note("groups", f"group_id `{group_id}` is used more than once")
    known = {subplan.index for subplan in subplans} - {0}
    for at, ref in _mentions(groups):
        if ref.index and ref.index not in known:
            shape.note(f"{at}.index", f"there is no sub-plan {ref.index}")
    counts = Counter(ref.index for _, ref in _mentions(groups))
    for position, subplan in enumerate(subplans):
        _check_mentioned(shape, f"subplans[{position}]", subplan, counts[subplan.index])
        _check_dependencies(shape, f"subplans[{position}]", subplan, known)


def _check_mentioned(shape: Shape, place: str, subplan: Subplan, count: int) -> None:
    if subplan.index and count == 0:
        shape.note(place, f"sub-plan {subplan.index} is in no group")
    if subplan.index and count > 1:
        shape.note(place, f"sub-plan {subplan.index} is named {count} times in groups, not once")


def _check_dependencies(shape: Shape, place: str, subplan: Subplan, known: set[int]) -> None:
    others = {str(index) for index in known - {subplan.index}}
    for position, name in enumerate(subplan.dependencies):
        if name.isdecimal() and name != "0" and name not in others:
            shape.note(
                f"{place}.dependencies[{position}]",
                f"{name} is not the index of another sub-plan",
            )


def _mentions(groups: tuple[Group, ...]) -> Iterator[tuple[str, PlanRef]]:
    for group_position, group in enumerate(groups):
        for position, ref in enumerate(group.plans):
            yield f"groups[{group_position}].plans[{position}]", ref


def _check_overlaps(shape: Shape, subplans: tuple[Subplan, ...], groups: tuple[Group, ...]) -> None:
    """Add a problem to ``shape`` wherever two sub-plans of a parallel group own the same file."""
    by_index = {subplan.index: subplan for subplan in subplans if subplan.index}
    for position, group in enumerate(groups):
        if group.mode is GroupMode.PARALLEL:
            members = [by_index[index] for index in set(group.indices) if index in by_index]
            for problem in sorted(_overlaps(members)):
                shape.note(f"groups[{position}]", problem)


def _overlaps(members: list[Subplan]) -> set[str]:
    """Return a description of each overlap of files that two sub-plans own.

    ``members`` are the sub-plans of one parallel group. Two paths overlap if they are equal or if
    one contains the other. Each path costs one look-up per directory above it, so that thousands of
    files stay fast.
    """
    owners: dict[tuple[str, ...], dict[int, str]] = {}
    for subplan in members:
        for path in filter(None, subplan.owned_files):
            owners.setdefault(_territory(path), {})[subplan.index] = path
    return {
        _overlap((index, path), (other, around))
        for territory, mine in owners.items()
        for depth in range(len(territory) + 1)
        for other, around in owners.get(territory[:depth], {}).items()
        for index, path in mine.items()
        if index != other
    }


def _overlap(*pair: tuple[int, str]) -> str:
    (one, left), (other, right) = sorted(pair)
    return (
        f"sub-plans {one} (`{left}`) and {other} (`{right}`) own the same file in a parallel"
        " group: give it to one of them, or make the group serial"
    )


def _territory(path: str) -> tuple[str, ...]:
    """Return the names that make up ``path``; a pattern such as ``src/*.py`` counts as ``src``."""
    parts = [] if path == "." else path.split("/")
    cut = next((at for at, part in enumerate(parts) if "*" in part or "?" in part), len(parts))
    return tuple(parts[:cut])


def _find_repeated(values: list[_Value]) -> list[_Value]:
    return [value for value, count in Counter(values).items() if count > 1 and value]


def _group_fields(group: Group) -> dict[str, object]:
    plans = [{"index": ref.index, "name": ref.name, "file": ref.file} for ref in group.plans]
    return {"group_id": group.group_id, "mode": group.mode.value, "plans": plans}


def check_execution_plan(value: object) -> tuple[ExecutionPlan | None, tuple[str, ...]]:
    """Validate ``value``, the parsed content of ``execution_plan.yaml``.

    Unknown fields are ignored. Older files have no ``subplan_count`` and no ``index``; then both
    are derived from ``file: plan_<N>.md`` in the groups.

    Returns:
        A pair: the plan, or None if there are problems; and all problems, each as
        ``<place>: <description>``.
    """
    shape = Shape("execution_plan.yaml")
    top = shape.mapping(value, "", required=("groups",), closed=False)
    plan = ExecutionPlan(
        needs_design=top.flag("needs_design"),
        needs_docs=top.flag("needs_docs"),
        doc_files=top.texts("doc_files"),
        groups=tuple(
            _lenient_group(shape, entry, at, position)
            for position, (at, entry) in enumerate(top.items("groups", some=True), start=1)
        ),
    )
    _check_execution(top, plan)
    return (None, shape.problems) if shape.problems else (plan, ())


def _check_execution(top: Fields, plan: ExecutionPlan) -> None:
    version = top.values.get("version", VERSION)
    if type(version) is not int or not 1 <= version <= VERSION:
        top.shape.note("version", f"expected {VERSION} or older, found {describe_value(version)}")
    _check_indices(top.shape, [ref.index for _, ref in _mentions(plan.groups)])
    count = top.values.get("subplan_count")
    if count is not None and top.number("subplan_count") != plan.subplan_count:
        top.shape.note(
            "subplan_count", f"is {describe_value(count)}, but the groups have {plan.subplan_count}"
        )


def _lenient_group(shape: Shape, value: object, place: str, position: int) -> Group:
    fields = shape.mapping(value, place, required=("plans",), closed=False)
    return Group(
        group_id=_group_id(fields) or f"group-{position}",
        mode=_mode(fields),
        plans=tuple(
            _lenient_ref(shape, entry, at) for at, entry in fields.items("plans", some=True)
        ),
    )


def _lenient_ref(shape: Shape, value: object, place: str) -> PlanRef:
    fields = shape.mapping(value, place, required=(), closed=False)
    index = fields.number("index") if "index" in fields.values else _index_from_file(fields)
    return PlanRef(index=index, name=fields.text("name") or subplan_file(index))


def _index_from_file(fields: Fields) -> int:
    match = _FILE.fullmatch(str(fields.values.get("file", "")))
    if match is None:
        fields.shape.note(fields.place, "needs `index` or `file: plan_<N>.md`")
        return 0
    return int(match[1])
