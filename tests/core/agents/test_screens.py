"""Reading screens with an agent's patterns."""

# ruff: noqa: RUF001 (the screens of agents have such characters)
from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.core.agents.screens import (
    LAST_ROWS,
    ScreenReading,
    ScreenState,
    ends_with_rejection,
    is_rejection,
    last_line,
    read,
    read_screen,
    read_since,
    shows_prompt,
)
from agentmux.core.agents.spec import AgentSpec


@pytest.mark.parametrize(
    ("screen", "mark"),
    [
        ("❯ ", ScreenState.READY),
        ("Working… (esc to interrupt)\n❯ ", ScreenState.BUSY),
        ("Proceed?\n ❯ 1. Yes\n❯ ", ScreenState.WAITING),
        ("Proceed?\n ❯ 1. Yes\n(esc to interrupt)\n❯ ", ScreenState.WAITING),
        ("Do you trust the files here?\n ❯ 1. No", ScreenState.TRUST),
        ("usage limit reached\n❯ ", ScreenState.LIMIT),
        ("usage limit reached\n(esc to interrupt)\n❯ ", ScreenState.BUSY),
        ("hello\n", ScreenState.UNKNOWN),
        ("", ScreenState.UNKNOWN),
    ],
)
def test_a_screen_says_what_the_agent_does(screen: str, mark: ScreenState) -> None:
    spec = AgentSpec(
        name="x",
        command=("x",),
        ready="^❯ ",
        busy="esc to interrupt",
        waiting=r"^ ❯ \d",
        trust="Do you trust",
        limit="usage limit",
        rejected="No conversation found",
    )

    assert read_screen(spec, screen) is mark
    assert not is_rejection(spec, screen)
    assert is_rejection(spec, f"{screen}\nNo conversation found with session ID: x")


LIMITED = AgentSpec(
    name="x",
    command=("x",),
    ready="^❯ ",
    limit=r"usage limit(?: resets (?P<resets>[^.]+)\.)?",
    trouble="^● (?P<cause>API error [^●❯]*)",
)


def test_what_a_limit_says_about_its_end_is_read_over_rows() -> None:
    assert read(LIMITED, "usage limit resets Nov 26,\n  5pm.\n❯ ").resets == "Nov 26, 5pm"
    assert read(LIMITED, "usage limit\n❯ ") == ScreenReading(mark=ScreenState.LIMIT)
    assert read(replace(LIMITED, limit="usage limit"), "usage limit\n❯ ").resets == ""


def test_the_last_trouble_is_read_whatever_the_mark() -> None:
    shown = "● API error 500\n● API error 529\n  overloaded\n❯ "
    assert read(LIMITED, shown) == ScreenReading(
        mark=ScreenState.READY, trouble="API error 529 overloaded"
    )
    assert read(replace(LIMITED, trouble="^● API.*"), shown).trouble == ""
    assert read(replace(LIMITED, trouble=None), shown).trouble == ""
    assert read(LIMITED, "● API error 500\n" + "talk\n" * LAST_ROWS).trouble == ""


MARK = "launch-7f3a"


@pytest.mark.parametrize(
    ("screen", "unmarked", "resets"),
    [
        (f"usage limit resets 5pm.\nRead {MARK}\n❯ ", True, None),
        (f"Read {MARK}\nusage limit resets 5pm.\n❯ ", False, "5pm"),
        (f"usage limit resets 4pm.\nRead {MARK}\nusage limit resets 5pm.\n❯ ", False, "5pm"),
        ("usage limit resets 5pm.\n│ Read laun │\n│ ch-7f3a │\n❯ ", True, None),
        ("usage limit resets 5pm.\n❯ ", True, "5pm"),
        ("usage limit resets 5pm.\n❯ ", False, None),
        (f"Read {MARK}\nusage limit.\nRead {MARK}\n❯ ", True, None),
    ],
)
def test_a_limit_counts_below_the_last_prompt_only(
    screen: str, unmarked: bool, resets: str | None
) -> None:
    found = read_since(LIMITED, screen, MARK, unmarked=unmarked)
    if resets is None:
        assert found == ScreenReading(mark=ScreenState.READY)
    else:
        assert found == ScreenReading(mark=ScreenState.LIMIT, resets=resets)


UNKNOWN_ID = "Error: No conversation found with session ID: 6f1b\n"


@pytest.mark.parametrize(
    ("screen", "says"),
    [
        (UNKNOWN_ID, True),
        (f"\n\n{UNKNOWN_ID}Run it without an id to choose one.\n\n\n", True),
        (f"● It said: {UNKNOWN_ID}\n❯ \n", False),  # the text is in a resumed conversation
        (f"● It said: {UNKNOWN_ID}✻ Working… (1s · esc to interrupt)\n", False),
        (f"{UNKNOWN_ID}\n ❯ 1. Start anew\n", False),  # the agent asks its user
        (UNKNOWN_ID + "hint\n" * 6, True),
        (UNKNOWN_ID + "talk\n" * 8, False),
        ("", False),
    ],
)
def test_a_refusal_is_the_last_word(screen: str, says: bool) -> None:
    spec = AgentSpec(
        name="a", command=("a",), ready="^❯ ", busy="esc to", waiting=r"^ ❯ \d", rejected="No conv"
    )
    assert ends_with_rejection(spec, screen) is says
    assert not ends_with_rejection(replace(spec, rejected=None), screen)


PROMPTED = "> Read the file /p/launches/0123456\n789ab/prompt.md and do what it says.\n\nDone.\n"


@pytest.mark.parametrize(
    ("screen", "shows"),
    [
        (f"{PROMPTED}\n❯ \n", True),
        (f"{PROMPTED}\n✻ Working… (1s · esc to interrupt)\n❯ \n", False),  # still busy
        ("Welcome\n\n❯ Read the file /p/launches/0123456789ab/prompt.md\n", False),  # not submitted
        ("Welcome\n\n❯ \n", False),
        (PROMPTED, False),
        (f"{PROMPTED}\n ❯ 1. Yes\n", True),
        ("Trust it?\n ❯ 1. Yes\n> Read the file /p/launches/0123456789ab/prompt.md\n", False),
    ],
)
def test_a_prompt_is_shown_above_an_empty_composer_or_a_question(screen: str, shows: bool) -> None:
    spec = AgentSpec(name="a", command=("a",), ready="^❯ ", busy="esc to", waiting=r"^ ❯ \d")
    assert shows_prompt(spec, screen, "0123456789ab") is shows


def test_only_the_end_of_a_screen_says_what_an_agent_does() -> None:
    spec = AgentSpec(name="a", command=("a",), ready="^❯ ")
    old = "✻ Working… (1s · esc to interrupt)\n" + "talk\n" * LAST_ROWS
    assert read_screen(spec, f"{old}❯ \n") is ScreenState.READY


def test_blank_rows_do_not_push_a_dialog_out_of_sight() -> None:
    """Some agents fill the whole screen: the question at its top, a line of keys at its end."""
    spec = AgentSpec(name="a", command=("a",), trust="Do you trust")
    shown = "Do you trust the files here?\n" + "  \n" * LAST_ROWS + "enter: yes\n\n\n"
    assert read_screen(spec, shown) is ScreenState.TRUST


def test_an_agent_without_marks_says_nothing() -> None:
    spec = AgentSpec(name="a", command=("a",), busy=None)
    assert read_screen(spec, "esc to interrupt\n❯ ") is ScreenState.UNKNOWN


@pytest.mark.parametrize(
    ("screen", "line"),
    [
        ("one\n\n  ● Edited  calc.py\n\n❯ \n  ? for shortcuts", "● Edited calc.py"),
        ("│ Reading files │\n╰──────────╯\n", "Reading files"),
        ("❯ \n  a hint below", "a hint below"),
        ("Working… (esc to interrupt)", "Working… (esc to interrupt)"),
        ("╭───╮\n│   │\n", ""),
        ("", ""),
    ],
)
def test_the_last_line_is_the_last_that_the_agent_has_written(screen: str, line: str) -> None:
    assert last_line(AgentSpec(name="a", command=("a",), ready="^❯ "), screen) == line


def test_of_a_question_the_last_line_is_what_it_asks() -> None:
    spec = AgentSpec(name="a", command=("a",), ready="^❯(?! 1)", waiting="Esc to cancel")
    menu = "❯ 1. Left\n  2. Right\nEnter to select · Esc to cancel\n"
    assert last_line(spec, f"logo\n❯ Go.\n☐ Way\nWhich way?\n{menu}") == "Which way?"
    assert last_line(spec, f"logo\n❯ Go.\n{menu}") == "Enter to select · Esc to cancel"
