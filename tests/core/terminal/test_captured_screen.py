"""Painting a captured screen: dimmed, cropped, and with no codes other than SGR."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcwidth

from agentmux.core.terminal.text.captured_screen import paint, plain, snapshot_screen, trim_screen
from agentmux.core.terminal.text.text_width import Cells, cell_width

SGR = re.compile(r"\x1b\[0(?:;2)?(?:;\d{1,3})*m")
RESET = "\x1b[0m"


def by_tables(char: str) -> int:
    return max(0, wcwidth(char))


def cells_of(text: str, cells: Cells) -> int:
    """Return the width of a row as tmux counts it: a character after a joiner takes no cell."""
    joined, used = False, 0
    for char in text:
        used += 0 if joined else cells(char)
        joined = char == "\u200d"
    return used


@pytest.mark.parametrize(
    ("ansi", "row"),
    [
        ("plain", f"\x1b[0;2mplain{RESET}"),
        ("\x1b[1;31mred", f"\x1b[0;2;31mred{RESET}"),
        ("\x1b[2mx\x1b[22my", f"\x1b[0;2mx\x1b[0;2my{RESET}"),
        ("\x1b[5;6mx", f"\x1b[0;2mx{RESET}"),
        ("\x1b[3;4;7;9mx\x1b[24my", f"\x1b[0;2;3;4;7;9mx\x1b[0;2;3;7;9my{RESET}"),
        ("\x1b[4:3mx\x1b[4:0my", f"\x1b[0;2;4mx\x1b[0;2my{RESET}"),
        ("\x1b[38;5;208;48;2;1;2;3mx", f"\x1b[0;2;38;5;208;48;2;1;2;3mx{RESET}"),
        ("\x1b[38:2::1:2:3;48:5:7mx", f"\x1b[0;2;38;2;1;2;3;48;5;7mx{RESET}"),
        ("\x1b[58:2::1:2:3;91mx", f"\x1b[0;2;91mx{RESET}"),
        ("\x1b[58;5;1;91mx", f"\x1b[0;2;91mx{RESET}"),
        ("\x1b[91;102mx\x1b[39;49my", f"\x1b[0;2;91;102mx\x1b[0;2my{RESET}"),
        ("\x1b[31mx\x1b[my", f"\x1b[0;2;31mx\x1b[0;2my{RESET}"),
        ("\x1b[38;5mx", f"\x1b[0;2;38;5;0mx{RESET}"),
        ("\x1b[38;7;1mx", f"\x1b[0;2mx{RESET}"),
        ("\x1b[38;5;999;31mx", f"\x1b[0;2;31mx{RESET}"),
        ("\x1b[99999999999999999999mx", f"\x1b[0;2mx{RESET}"),
        ("a\x1b]8;;http://x\x1b\\b\x1b]0;t\x07c", f"\x1b[0;2ma\x1b[0;2mb\x1b[0;2mc{RESET}"),
        ("a\x1b[2Jb\x1b[?1049hc\x1bMd", "".join(f"\x1b[0;2m{c}" for c in "abcd") + RESET),
        ("\x0elqk\x0fq", f"\x1b[0;2m┌─┐\x1b[0;2mq{RESET}"),
        ("a\u202eb\ud800c\u2028d", f"\x1b[0;2mabcd{RESET}"),
        # tmux 3.6 and newer keep tabs, and print them.
        ("a\tb", f"\x1b[0;2ma{' ' * 7}b{RESET}"),
        ("世\t\x1b[31mb", f"\x1b[0;2m世{' ' * 6}\x1b[0;2;31mb{RESET}"),
        ("", ""),
    ],
)
def test_what_is_painted_of_one_row(ansi: str, row: str) -> None:
    assert paint(ansi, 80, 1) == (row,)


def test_colours_run_on_across_rows() -> None:
    assert paint("\x1b[31mone\n\ntwo\x1b[0m", 80, 9) == (
        f"\x1b[0;2;31mone{RESET}",
        "",
        f"\x1b[0;2;31mtwo{RESET}",
    )
    assert paint("\x1b[31mone\ntwo", 80, 1) == (f"\x1b[0;2;31mtwo{RESET}",)
    assert paint("\x0elq\nqk", 80, 9, dim=False) == ("\x1b[0m┌─\x1b[0m", "\x1b[0m─┐\x1b[0m")


def test_the_last_rows_are_kept_but_not_empty_ones() -> None:
    assert plain("a\nb\nc", 80, 2) == ("b", "c")
    assert plain("a\nb\nc\n \n\n", 80, 2) == ("b", "c")
    assert plain("a\n\n", 80, 9) == ("a", "", "")
    assert plain("a", 80, 0) == ()


def test_rows_are_cut_by_cells() -> None:
    assert plain("abcdef", 3, 1) == ("abc",)
    assert plain("世界x", 4, 1) == ("世界",)
    assert plain("世界x", 3, 1) == ("世",)
    assert plain("世x", 1, 1) == ("",)
    assert plain("abc\u0301", 2, 1) == ("ab",)
    assert plain("e\u0301x", 1, 1) == ("e\u0301",)
    assert plain("\U0001f468\u200d\U0001f469x", 3, 1) == ("\U0001f468\u200d\U0001f469x",)
    assert plain("a\x1b[31mb\x1b[32mc", 2, 1) == ("ab",)


def test_blanks_with_a_background_stay() -> None:
    assert paint("\x1b[41m   ", 80, 1) == (f"\x1b[0;2;41m   {RESET}",)


@pytest.mark.parametrize("char", [*"aé世─│↻✓…●가", "\u0301", "\u200d", "\u1161"])
def test_the_widths_are_those_of_terminals(char: str) -> None:
    assert cell_width(char) == by_tables(char)


# Pieces that hypothesis would not find quickly.
PIECES = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]", "\x1bP", "m", ";", ":", "38", "48;2", "\x0e", "\x0f", "\n", "\r",
     "\t", "\x07", "\x1b\\", "\x9b", "世", "\u0301", "\u200d", "\ufe0f", "\ud800", "\x7f",
     "[?1049h", "x"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES).map("".join),
    st.text(st.characters(exclude_categories=())),
    st.binary().map(lambda data: data.decode("utf-8", "replace")),
    st.binary().map(lambda data: data.decode("latin-1")),
)


@given(ansi=TEXTS, cols=st.integers(-1, 12), rows=st.integers(-1, 5), tables=st.booleans())
@example(ansi="\u0301" * 9, cols=0, rows=1, tables=True)
@example(ansi="\u200d世" * 9, cols=1, rows=1, tables=False)
def test_nothing_but_text_and_sgr_gets_through(
    ansi: str, cols: int, rows: int, tables: bool
) -> None:
    cells = by_tables if tables else cell_width
    painted = paint(ansi, cols, rows, cells=cells)
    assert len(painted) <= max(rows, 0)
    for row in painted:
        text = SGR.sub("", row)
        assert "\x1b" not in text
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
        assert cells_of(text, cells) <= max(cols, 0)
        assert row == "" or row.endswith(RESET)
        row.encode()
    texts = tuple(SGR.sub("", row).rstrip() for row in painted)
    assert plain(ansi, cols, rows, cells=cells) == texts
    # Painting a painted screen changes nothing.
    again = paint("\n".join(painted), max(cols, 0), len(painted), cells=cells)
    assert tuple(SGR.sub("", row).rstrip() for row in again)[: len(texts)] == texts


@pytest.mark.parametrize(
    ("ansi", "cols", "rows"),
    [
        ("a\tb\n\tc", 80, ("a       b", "        c")),
        ("12345678\tb", 80, ("12345678        b",)),
        ("\t\tb", 12, ("",)),
        ("123\tb", 9, ("123     b",)),
    ],
)
def test_a_tab_goes_to_the_next_stop(ansi: str, cols: int, rows: tuple[str, ...]) -> None:
    assert plain(ansi, cols, len(rows)) == rows


@pytest.mark.parametrize(
    "fields",
    [None, [], "x", {}, {"ansi": 1, "cols": 1, "rows": 1}, {"ansi": "x", "cols": True, "rows": 1},
     {"ansi": "x", "cols": 0, "rows": 1}, {"ansi": "x", "cols": 1}],
)  # fmt: skip
def test_what_is_no_snapshot_shows_nothing(fields: object) -> None:
    assert snapshot_screen(fields) is None


def test_a_snapshot_shows_its_screen() -> None:
    assert snapshot_screen({"ansi": "x", "cols": 1, "rows": 1, "more": 1}) == "x"


@pytest.mark.parametrize(
    ("ansi", "rest"),
    [
        ("a  b  \n   \n c", "a  b\n\n c"),
        ("\x1b[31mred  \x1b[0m  ", "\x1b[31mred\x1b[0m"),
        ("\x1b[44mx  \n\x1b[m  ", "\x1b[44mx  \n\x1b[m"),
        ("x \x1b[7m \x1b[0m   ", "x \x1b[7m \x1b[0m"),
        ("\x1b[4m  \x1b[24mx  \x1b[1m ", "\x1b[4m  \x1b[24mx\x1b[1m"),
        ("\x1b[48;5;7m  \x1b[49m ", "\x1b[48;5;7m  \x1b[49m"),
        ("\x1b[7m\x1b[27m  ", "\x1b[7m\x1b[27m"),
        ("\x1b[41m\n  \n\x1b[49m  ", "\x1b[41m\n  \n\x1b[49m"),
        ("no-break\xa0 ", "no-break\xa0"),
    ],
)
def test_blanks_that_show_nothing_end_no_row(ansi: str, rest: str) -> None:
    assert trim_screen(ansi) == rest


def seen(screen: str) -> list[list[tuple[str, str]]]:
    """Return style and character of each row's cells, up to the last visible one."""
    rows = []
    for row in paint(screen, 80, 99, dim=False):
        segments = re.findall(r"\x1b\[0([;0-9]*)m([^\x1b]*)", row)
        cells = [(style, char) for style, text in segments for char in text]
        while cells and cells[-1] in {("", " "), (";31", " ")}:
            cells.pop()
        rows.append(cells)
    return rows


@given(st.lists(st.sampled_from(["a", " ", "\n", *(f"\x1b[{n}m" for n in (0, 7, 31, 44))])))
def test_a_trimmed_screen_looks_the_same_and_is_not_trimmed_again(parts: list[str]) -> None:
    ansi = "".join(parts)
    assert seen(trim_screen(ansi)) == seen(ansi)
    assert trim_screen(trim_screen(ansi)) == trim_screen(ansi)
    text = re.sub("\x1b[^m]*m", "", trim_screen(re.sub(r"\x1b\[(7|44)m", "", ansi)))
    assert not re.search(" $", text, re.MULTILINE)
