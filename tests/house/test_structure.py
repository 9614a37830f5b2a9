"""The rules of the house about names, sizes and rooms; each failure names who breaks one."""

import ast
import re
from collections import defaultdict
from typing import Final

from tests.house.sources import PACKAGE, ROOT, modules

FILES_MAX: Final = 14
"""The files of a folder, its ``__init__.py`` included."""

BODY_MAX: Final = 60
"""The lines of a function's body. The options of a command stand in its signature, not in there."""

SAME_NAME: Final[dict[str, str]] = {
    "Picked": "Textual makes a handler's name of the class within its widget",
    "Sent": "Textual makes a handler's name of the dialog and of this class in it",
}
"""Classes whose name stands more than once, and why."""

_PARTICIPLE: Final = re.compile(
    r"_*[a-z]+(ed|own|ept|ound|old|aid|ade|iven|aken|one|ent|ead|ut|eant|eft|ost|ritten|nown|een"
    r"|hown|rawn|egun|orn)"
)
_NO_PARTICIPLES: Final = frozenset(
    {"about", "absent", "agent", "alone", "argument", "client", "clone", "comment", "content"}
    | {"current", "cut", "different", "document", "environment", "event", "fade", "feed", "fold"}
    | {"foreground", "head", "hold", "host", "independent", "instead", "layout", "logout"}
    | {"markdown", "moment", "out", "parent", "patient", "persistent", "pread", "put", "read"}
    | {"screen", "settlement", "spread", "without"}
)
"""Names of functions that end as participles do and are none."""

_VAGUE: Final = frozenset({"found", "made", "said"})
"""Names that do not say what a value is."""


def test_a_class_name_stands_once() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in SAME_NAME} == {}


def test_a_folder_fits_on_a_screen() -> None:
    files: defaultdict[str, int] = defaultdict(int)
    for path in PACKAGE.rglob("*.py"):
        files[path.parent.relative_to(ROOT).as_posix()] += 1
    assert {folder: count for folder, count in files.items() if count > FILES_MAX} == {}


def test_a_function_fits_on_a_screen() -> None:
    lengths = {}
    for path, module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[ast.get_docstring(node) is not None :] or node.body
                lengths[f"{path}:{node.lineno} {node.name}"] = (
                    (body[-1].end_lineno or 0) - body[0].lineno + 1
                )
    assert {name: lines for name, lines in lengths.items() if lines > BODY_MAX} == {}


def test_functions_are_verbs() -> None:
    named_by_a_participle = [
        f"{path}:{node.lineno} {node.name}"
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _PARTICIPLE.fullmatch(node.name)
        and node.name.strip("_") not in _NO_PARTICIPLES
    ]
    assert named_by_a_participle == []


def test_a_variable_is_named_after_what_it_is() -> None:
    vague = {
        f"{path}:{node.lineno} {node.id}"
        for path, module in modules()
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _VAGUE
    }
    assert vague == set()


def test_each_exception_has_its_reason() -> None:
    assert all(SAME_NAME.values())


def test_each_room_is_on_the_page_of_the_architecture() -> None:
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    rooms = {
        path.parent.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("__init__.py")
        if path.parent != PACKAGE
    }
    assert {room for room in rooms if f"`{room}/`" not in page} == set()
