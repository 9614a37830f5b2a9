"""The names of phases are texts: most pipelines have others than `Phase` has members."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import agentmux

SOURCES = Path(agentmux.__file__).parent


def identities(source: str) -> Iterator[ast.Compare]:
    """Yield each comparison by ``is`` of two things of which one is a phase."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            sides = (node.left, node.comparators[0])
            named = [ast.unparse(each).split(".") for each in sides]
            if ["None"] not in named and any(e[0] == "Phase" or e[-1] == "phase" for e in named):
                yield node


def test_no_phase_is_compared_by_identity() -> None:
    # A phase that was read from a file is equal to a member of `Phase`, but never the same object.
    found = [
        f"{path.relative_to(SOURCES)}:{each.lineno}: {ast.unparse(each)}"
        for path in sorted(SOURCES.rglob("*.py"))
        if "hase" in (source := path.read_text("utf-8")) and " is " in source
        for each in identities(source)
    ]
    assert found == []


def test_such_a_comparison_is_found() -> None:
    source = "a.phase is not b\nx is Phase.DONE\nphase is None\nkind is Kind.FIX\nphase == x"
    assert [each.lineno for each in identities(source)] == [1, 2]
