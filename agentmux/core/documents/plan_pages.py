"""Render a plan as Markdown pages, for people and for the coders of its sub-plans."""

from __future__ import annotations

from agentmux.core.codec.shape import indent_list_item
from agentmux.core.documents.plan import Plan, tasks_file


def plan_md(plan: Plan) -> str:
    """Return the text of ``plan.md``: the plan's overview, its groups, and a line per sub-plan."""
    lines = ["# Plan", "", plan.overview, "", "## Groups", ""]
    for number, group in enumerate(plan.execution.groups, start=1):
        lines.append(f"{number}. `{group.group_id}` ({group.mode.value})")
        lines.extend(
            f"   - {ref.index}: {ref.name} ([{ref.file}]({ref.file}))" for ref in group.plans
        )
    lines += ["", "## Sub-plans", ""]
    lines.extend(f"{subplan.index}. {subplan.title}" for subplan in plan.subplans)
    if plan.execution.doc_files:
        lines += ["", "## Documentation to update", "", *_bullets(plan.execution.doc_files)]
    return "\n".join(lines) + "\n"


def subplan_md(plan: Plan, index: int) -> str:
    """Return the Markdown page about the sub-plan with this index, for its coder.

    The sub-plan must exist; indices count from 1.
    """
    subplan = plan.subplan(index)
    sections = (
        ("Scope", subplan.scope),
        ("Owned files", tuple(f"`{path}`" for path in subplan.owned_files)),
        ("Dependencies", subplan.dependencies),
        ("Approach", subplan.implementation_approach),
        ("Acceptance criteria", subplan.acceptance_criteria),
        ("Why it stands alone", (subplan.isolation_rationale,)),
    )
    parts = [f"# Sub-plan {index}: {subplan.title}\n"]
    parts.extend(_section(title, texts) for title, texts in sections if any(texts))
    parts.append(f"Tasks: [{tasks_file(index)}]({tasks_file(index)})\n")
    return "\n".join(parts)


def tasks_md(plan: Plan, index: int) -> str:
    """Return the Markdown page with the tasks of the sub-plan with this index, as a check list.

    The sub-plan must exist; indices count from 1.
    """
    subplan = plan.subplan(index)
    tasks = [f"- [ ] {indent_list_item(task)}" for task in subplan.tasks]
    return "\n".join([f"# Tasks of sub-plan {index}: {subplan.title}", "", *tasks]) + "\n"


def _section(title: str, texts: tuple[str, ...]) -> str:
    body = [texts[0]] if len(texts) == 1 else _bullets(texts)
    return "\n".join([f"## {title}", "", *body]) + "\n"


def _bullets(texts: tuple[str, ...]) -> list[str]:
    return [f"- {indent_list_item(text)}" for text in texts]
