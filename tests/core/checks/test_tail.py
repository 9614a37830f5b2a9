"""The end of a command's output: clean, and bounded."""

import pytest

from agentmux.core.checks.tail import CHARS_MAX, LINES_MAX, last_count, tail


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", ""),
        (b"\n\none\r\n\r\ntwo\n\n", "one\n\ntwo"),
        (b"\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07 \x1b(Bend", "red link end"),
        (b"10%\r50%\r100%\ndone\r\n", "100%\ndone"),
        (b"a\x00b\x07c\x08 \xe2\x80\xaed \xff", "abc d \N{REPLACEMENT CHARACTER}"),
        ("é ✓".encode(), "é ✓"),
        (b"x" * 400, "x" * 300 + " …"),
        (b"\x1b]0;title that never ends", ""),
    ],
)
def test_the_output_becomes_text(data: bytes, found: str) -> None:
    assert tail(data) == found


def test_the_last_lines_are_kept() -> None:
    lines = [f"line {n}" for n in range(1000)]
    assert tail("\n".join(lines).encode()) == "\n".join(lines[-LINES_MAX:])


def test_many_long_lines_are_bounded() -> None:
    found = tail(b"\n".join(b"%d " % n + b"y" * 280 for n in range(100)))
    assert len(found) <= CHARS_MAX
    assert found.startswith(("87 y", "86 y"))
    assert found.splitlines()[-1].startswith("99 y")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("-----\nRan 0 tests in 0.000s\n\nOK", "Ran 0 tests in 0.000s"),
        (".....\n5 passed in 0.1s", "5 passed in 0.1s"),
        ("all is well\n\nOK\n", "OK"),
        ("", ""),
    ],
)
def test_what_passed_is_told_by_the_line_that_counts(output: str, line: str) -> None:
    assert last_count(output) == line
