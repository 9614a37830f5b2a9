"""A protocol has a reason, and what its methods promise stands there alone.

Its reason is that it has several implementations (a double of the tests counts), or that the one
which it has may not be imported where it is used: `app` and `adapters` meet at `ports` only, and
the modules of a room import each other in no circle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "agentmux"
PORTS = PACKAGE / "ports"


class Class(NamedTuple):
    """A class of the program or of its tests, with the docstrings of its methods."""

    path: Path
    name: str
    bases: tuple[str, ...]
    methods: dict[str, str | None]

    @property
    def is_protocol(self) -> bool:
        return any(each.split("[")[0] == "Protocol" for each in self.bases)

    @property
    def is_ours(self) -> bool:
        return self.path.is_relative_to(PACKAGE)


def classes(root: Path) -> Iterator[Class]:
    for path in sorted(root.rglob("*.py")):
        for each in ast.parse(path.read_text("utf-8")).body:
            if isinstance(each, ast.ClassDef):
                methods = {
                    one.name: ast.get_docstring(one)
                    for one in each.body
                    if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
                }
                yield Class(path, each.name, tuple(map(ast.unparse, each.bases)), methods)


ALL = (*classes(PACKAGE), *classes(ROOT / "tests"))
PROTOCOLS = [each for each in ALL if each.is_protocol and each.is_ours]
BY_NAME = {each.name: each for each in PROTOCOLS}


def promised(protocol: Class) -> dict[str, str | None]:
    """Return the methods of a protocol, with those of the protocols that it extends."""
    above = (BY_NAME[each] for each in protocol.bases if each in BY_NAME)
    inherited = {name: said for each in above for name, said in promised(each).items()}
    return {**inherited, **protocol.methods}


def implementations(protocol: Class) -> list[Class]:
    wanted = promised(protocol).keys()
    return [each for each in ALL if not each.is_protocol and wanted <= each.methods.keys()]


def imports(path: Path, other: Path) -> bool:
    module = ".".join(other.relative_to(ROOT).with_suffix("").parts)
    return (
        re.search(rf"^\s*from {re.escape(module)} import", path.read_text("utf-8"), re.MULTILINE)
        is not None
    )


def mentions(path: Path, name: str) -> bool:
    return re.search(rf"\b{name}\b", path.read_text("utf-8")) is not None


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_a_protocol_has_a_reason(protocol: Class) -> None:
    known = implementations(protocol)
    if len(known) > 1:
        return
    if PORTS in protocol.path.parents:
        below = (PACKAGE / "app", PACKAGE / "adapters")
        users = [each for room in below for each in room.rglob("*.py")]
        assert any(mentions(each, protocol.name) for each in users), "neither side names it"
        return
    (only,) = known
    assert imports(only.path, protocol.path), f"{only.name} could be imported instead"


def restated(method: str, said: str, protocol: Class) -> bool:
    """Whether each sentence of a docstring stands in the protocol's, too."""
    promise = promised(protocol).get(method) or ""
    plain = " ".join(promise.split())
    parts = [each for each in re.split(r"(?<=[.;:])\s", " ".join(said.split())) if each]
    return bool(plain) and all(part.rstrip(".;:") in plain for part in parts)


def test_what_a_method_promises_stands_in_its_protocol_alone() -> None:
    found = [
        f"{each.path.relative_to(ROOT)}: {each.name}.{method}"
        for protocol in PROTOCOLS
        for each in implementations(protocol)
        if each.is_ours and PORTS in protocol.path.parents
        for method, said in each.methods.items()
        if said is not None and method in promised(protocol) and restated(method, said, protocol)
    ]
    assert sorted(set(found)) == []


def test_a_method_of_an_adapter_is_described_by_itself_or_by_a_protocol() -> None:
    described = {
        name
        for protocol in PROTOCOLS
        for name, said in promised(protocol).items()
        if said is not None
    }
    found = [
        f"{each.path.relative_to(ROOT)}: {each.name}.{method}"
        for each in ALL
        if each.is_ours and not each.name.startswith("_")
        for method, said in each.methods.items()
        if said is None and not method.startswith("_") and method not in described
    ]
    assert [each for each in found if "/adapters/" in each] == []
