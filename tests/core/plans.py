"""A valid plan with two groups, for tests to change."""

from __future__ import annotations

from typing import Any

from agentmux.core.documents.plan import Plan, check_plan


def subplan(index: int, *owned: str, **changed: Any) -> dict[str, Any]:
    return {
        "index": index,
        "title": f"Part {index}",
        "scope": "what it covers",
        "owned_files": list(owned),
        "dependencies": [],
        "implementation_approach": "how",
        "acceptance_criteria": ["it works"],
        "tasks": ["write it", "test it"],
        **changed,
    }


def group(name: str, mode: str, *indices: int) -> dict[str, Any]:
    plans = [{"index": index, "name": f"part {index}"} for index in indices]
    return {"group_id": name, "mode": mode, "plans": plans}


def plan(**changed: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "plan_overview": "Two parts, then a third.",
        "needs_design": False,
        "needs_docs": True,
        "doc_files": ["README.md"],
        "groups": [group("core", "parallel", 1, 2), group("last", "serial", 3)],
        "subplans": [
            subplan(1, "src/a.py"),
            subplan(2, "src/b.py", isolation_rationale="own module"),
            subplan(3, "src/a.py", dependencies=[1, "the parser"]),
        ],
        **changed,
    }


def parsed(value: object) -> Plan:
    found, listed = check_plan(value)
    assert found is not None, listed
    return found
