"""The program does not grow beyond what people can know: its statements are counted.

A statement counts once, however many lines it takes, so that no formatting changes the number; a
docstring does not count, nor do comments and blank lines. To see where they are:

    python -m tests.house.test_size
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.sources import texts

STATEMENTS_MAX = 47_200
"""What there is now, rounded up. A feature may raise it, in the commit that says by how much."""


def statements(text: str) -> int:
    """Return the number of statements in a module, without docstrings."""
    nodes = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.stmt)]
    return sum(not _is_text(each) for each in nodes)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def counted() -> Iterator[tuple[int, str]]:
    """Yield the number of statements of each room of the program, with the name of the room."""
    rooms: dict[str, int] = {}
    for path, text in texts():
        room = "/".join(path.split("/")[1:-1][:2]) or "."
        rooms[room] = rooms.get(room, 0) + statements(text)
    yield from ((count, room) for room, count in rooms.items())


def test_the_program_has_a_limited_number_of_statements() -> None:
    found = sum(count for count, _ in counted())
    assert found <= STATEMENTS_MAX, "delete something: python -m tests.house.test_size"


def test_a_statement_counts_once_and_a_docstring_not_at_all() -> None:
    text = (
        '"""Doc."""\n\n# a comment\nx = (\n    1,\n    2,\n)\n\ndef f() -> None:\n    """Doc."""\n'
    )
    assert statements(text) == 2
    assert statements(f"{text}    if x:\n        return\n") == 4


if __name__ == "__main__":
    for count, room in sorted(counted(), reverse=True):
        print(f"{count:6} {room}")
