"""Composes the texts of the artifacts that the offline agent writes. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final

from agentmux.demo_agent.scenario import Behaviour
from agentmux.demo_agent.seat import OwnSeat

WRONG: Final = {
    "architecture.md": "---\nreviewers: [nobody]\n---\n",
    "plan.yaml": "version: 2\ngroups: []\nsubplans: [{index: 7}]\n",
}
"""Artifacts that AgentMux must refuse, by file name."""
WRONG_REVIEW: Final = "verdict: perhaps\nfindings: none\n"
"""A review that AgentMux must refuse."""
WRONG_TEXT: Final = "\n"
"""The content of any other artifact that AgentMux must refuse."""


def draft(
    path: str, seat: OwnSeat, life: Behaviour, *, example: str = "", wrong: bool = False
) -> str:
    """Return the text of an artifact; nothing is written.

    Args:
        path: The path of the artifact, whose file name decides which text is returned: one for
            ``plan.yaml``, one for names that begin with ``review``, and so on; any other name has a
            short Markdown text.
        seat: The agent's seat.
        life: The agent's behaviour, which may contain parts of the text.
        example: The text to return for a YAML file of an unknown name; empty if there is none.
        wrong: Whether to return a text that AgentMux must refuse.
    """
    name = PurePath(path).name
    if wrong:
        return WRONG_REVIEW if name.startswith("review") else WRONG.get(name, WRONG_TEXT)
    if name.startswith("review"):
        return _review(seat, life)
    if name.endswith(".yaml") and name not in _DRAFTS and example:
        return example
    return _DRAFTS.get(name, _text)(seat, life)


def subplans_of(plan: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the sub-plans in the content of a ``plan.yaml``, by number; empty if it has none.

    Each is a mapping, such as the file has under ``subplans``, and is not copied.
    """
    return {int(part["index"]): part for part in plan.get("subplans") or ()}


def _text(seat: OwnSeat, life: Behaviour) -> str:
    what = f" about {seat.topic}" if seat.topic else ""
    text = life.summary or f"The {seat.role or 'agent'} looked at the request{what} and wrote this."
    return f"# {seat.role or 'Note'}{': ' + seat.topic if seat.topic else ''}\n\n{text}\n"


def _requirements(_seat: OwnSeat, life: Behaviour) -> str:
    summary = life.summary or "The feature as it was asked for."
    return f"# Requirements\n\n{summary}\n\n- It works.\n- It has tests.\n"


def _architecture(_seat: OwnSeat, life: Behaviour) -> str:
    reviewers = ", ".join(life.reviewers or ["logic"])
    summary = life.summary or "Small modules with one job each, and a test for each of them."
    return f"---\nreviewers: [{reviewers}]\n---\n# Architecture\n\n{summary}\n"


def _design(_seat: OwnSeat, life: Behaviour) -> str:
    return f"# Design\n\n{life.summary or 'Plain words, one screen, no colours.'}\n"


def _summary(seat: OwnSeat, life: Behaviour) -> str:
    if seat.topic:
        return _text(seat, life)
    return f"# Summary\n\n{life.summary or 'Every part is there, and its tests pass.'}\n"


def _detail(seat: OwnSeat, _life: Behaviour) -> str:
    return f"# {seat.topic or 'Topic'} in detail\n\nNothing stands in the way.\n"


def _plan(_seat: OwnSeat, life: Behaviour) -> str:
    import yaml

    plan = whole_plan(life.plan or {})
    return yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)


def _review(_seat: OwnSeat, life: Behaviour) -> str:
    """Return a review as YAML.

    Its strings are written as JSON strings, which are valid YAML, so no YAML library is imported.
    """
    passed = life.verdict == "pass"
    summary = life.summary or ("Looks good." if passed else "One thing has to change.")
    lines = [f"verdict: {life.verdict}", f"summary: {_quote_text(summary)}"]
    findings = life.findings if life.findings is not None else []
    lines.append("findings:" if findings else "findings: []")
    for finding in findings:
        fields = [f"{key}: {_quote_text(str(value))}" for key, value in finding.items()]
        lines += [f"  - {fields[0]}", *(f"    {field}" for field in fields[1:])]
    if passed and life.commit_message:
        lines.append(f"commit_message: {_quote_text(life.commit_message)}")
    return "\n".join(lines) + "\n"


def finding(seat: OwnSeat, path: str) -> dict[str, str]:
    """Return a made-up finding for a review that fails.

    Args:
        seat: The reviewer's seat.
        path: The file that the finding is about.

    Returns:
        The finding, with the keys ``location``, ``issue``, ``severity`` and ``recommendation``.
    """
    return {
        "location": f"{path}:1",
        "issue": f"The {seat.role.removeprefix('reviewer_') or 'code'} is not right yet.",
        "severity": "major",
        "recommendation": "Fix it.",
    }


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_DRAFTS: Final[dict[str, Callable[[OwnSeat, Behaviour], str]]] = {
    "requirements.md": _requirements,
    "architecture.md": _architecture,
    "design.md": _design,
    "summary.md": _summary,
    "detail.md": _detail,
    "plan.yaml": _plan,
}


def whole_plan(said: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a ``plan.yaml`` (version 2) for the ``plan`` of a scenario.

    Args:
        said: The scenario's ``plan``. If it has ``subplans`` or ``version``, it is returned
            unchanged. Otherwise, it may have ``parts`` (a number, default 2), ``groups`` (a list of
            ``{mode, plans: [1, 2]}``, default one parallel group of all parts) and
            ``needs_design``.
    """
    if "subplans" in said or "version" in said:
        return said
    count = int(said.get("parts", 2))
    everything = [{"mode": "parallel", "plans": list(range(1, count + 1))}]
    return {
        "version": 2,
        "plan_overview": f"The feature in {count} parts.",
        "needs_design": bool(said.get("needs_design", False)),
        "needs_docs": False,
        "doc_files": [],
        "groups": [
            _group(at, group) for at, group in enumerate(said.get("groups") or everything, 1)
        ],
        "subplans": [_subplan(index) for index in range(1, count + 1)],
    }


def _group(at: int, said: dict[str, Any]) -> dict[str, Any]:
    plans = [{"index": index, "name": f"part {index}"} for index in said["plans"]]
    return {"group_id": f"group-{at}", "mode": said.get("mode", "parallel"), "plans": plans}


def _subplan(index: int) -> dict[str, Any]:
    return {
        "index": index,
        "title": f"Part {index}",
        "scope": f"Everything about part {index}.",
        "owned_files": [f"demo_part_{index}.py", f"tests/test_demo_part_{index}.py"],
        "dependencies": "none",
        "implementation_approach": "Write the function, then its test.",
        "acceptance_criteria": "The test passes.",
        "tasks": [f"Write part {index}", f"Test part {index}"],
        "isolation_rationale": "No other part touches these files.",
    }
