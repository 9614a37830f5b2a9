"""Every screen of every face, in each case and size: what a person needs is there, and whole."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from agentmux.app.views.session.plan_lines import resume_plan
from agentmux.cli.picker.view import KnownSession, PickerScene
from agentmux.cli.picker.view import draw as draw_picker
from agentmux.cli.session_text import session_list, status_lines
from agentmux.core.codec.frozen import replace
from agentmux.core.names.status_labels import status_label
from agentmux.core.terminal.keys.picker import Choice, begin, tell
from agentmux.core.terminal.text.folding import fold
from agentmux.desk.list.list_lines import row_line, titles_of
from agentmux.desk.list.listing import DeskRow, SessionListing, with_rows
from agentmux.desk.styled import plain
from agentmux.monitor.view import render
from tests.screens.rules import (
    beyond_first_screen,
    cut_words,
    equal_rows,
    too_wide,
    wrapped_ids,
)
from tests.screens.sessions import NOW, PROJECT, STATES, Sample, samples

SIZES: Final = ((80, 24), (120, 36), (200, 50))
_WIDE: Final = (1000, 400)

Screen = Callable[[Sample, int, int], Sequence[str]]
"""Draws the screen of a session, at a size of the terminal."""


def folded(lines: Iterable[str], cols: int) -> list[str]:
    """Return the lines as a command writes them to a terminal."""
    return [each for line in lines for each in fold(line, cols)]


def monitor(sample: Sample, cols: int, rows: int) -> Sequence[str]:
    wide = cols if cols == _WIDE[0] else pane_cols("monitor", sample.case, cols)
    return render(sample.picture, wide, rows - 1)


def picker_of(
    shown: Sequence[Sample], at: str, cols: int, rows: int, *, asks: bool = False
) -> list[str]:
    choices = [
        Choice(name=each.name, words=f"{each.entry.slug} {each.entry.title}") for each in shown
    ]
    picker = begin(choices, asks=asks)
    picker = tell(picker, {each.name: status_label(each.row.status) for each in shown})
    scene = PickerScene(
        picker=replace(picker, at=at) if at else picker,
        known={
            each.name: KnownSession(
                name=each.short,
                phase=each.view.phase or "-",
                updated=each.entry.updated,
                title=each.entry.title,
                place=f"{each.view.branch} in {each.view.worktree}",
            )
            for each in shown
        },
        outlooks={each.name: each.outlook for each in shown},
        now=NOW,
        rows={each.name: each.row for each in shown},
    )
    return [line.text for line in draw_picker(scene, cols, rows)]


def desk_list(shown: Sequence[Sample], cols: int) -> list[str]:
    rows = [
        DeskRow(
            path=each.entry.path,
            project=PROJECT,
            row=each.row,
            updated=each.entry.updated,
            words="",
        )
        for each in shown
    ]
    other = replace(rows[0], path=Path("/other/name"), project=Path("/other"))
    listing = with_rows(SessionListing(), [*rows, other])
    titles = titles_of(listing, cols)
    return [plain(row_line(listing, row, titles[row.path], cols, NOW)) for row in rows]


def picker(sample: Sample, cols: int, rows: int) -> Sequence[str]:
    return picker_of(samples(sample.case), sample.name, cols, rows)


def question(sample: Sample, cols: int, rows: int) -> Sequence[str]:
    """The question of a resume, about one session."""
    return picker_of((sample,), sample.name, cols, rows, asks=True)


def status(sample: Sample, cols: int, _: int) -> Sequence[str]:
    return folded(status_lines(sample.view, colours=False), cols)


def list_of(shown: Sequence[Sample], cols: int) -> list[str]:
    names = [each.name for each in shown]
    return session_list([each.row for each in shown], names, cols=cols, colours=False)


def listed(sample: Sample, cols: int, _: int) -> Sequence[str]:
    return list_of(samples(sample.case), cols)


def dry_run(sample: Sample, cols: int, _: int) -> Sequence[str]:
    seats = [
        {"seat": each.seat, "mode": each.mode, "reason": each.reason}
        for each in sample.outlook.seats
    ]
    fields = {
        "session": sample.name, "phase": sample.state.phase, "because": sample.outlook.because,
        "unapplied_events": 0, "blocked": None, "setup": (), "checks": (), "panes": seats,
        "warnings": ["the worktree is not there: a resume makes it again, or finds it elsewhere"],
    }  # fmt: skip
    return folded(resume_plan(fields, explain=False), cols)


def resume_refused(sample: Sample, cols: int, _: int) -> Sequence[str]:
    message = f"error: session {sample.name} is live: its orchestrator is process 4242"
    hints = (f"hint: see it: agentmux attach {sample.name}",
             f"hint: or stop it: agentmux stop {sample.name}")  # fmt: skip
    return folded((message, *hints), cols)


SCREENS: Final[Mapping[str, Screen]] = {
    "monitor": monitor,
    "picker": picker,
    "question": question,
    "status": status,
    "list": listed,
    "resume --dry-run": dry_run,
    "resume": resume_refused,
}

DRAWN: Final = frozenset({"monitor", "picker", "question"})
"""The screens that fill the terminal; the others are printed above a prompt."""

LISTS: Final[Mapping[str, Callable[[Sequence[Sample], int, int], list[str]]]] = {
    "list": lambda shown, cols, _: list_of(shown, cols)[1:],
    "picker": lambda shown, cols, _: picker_of(shown, "", cols, 40)[1 : 1 + len(shown)],
    "desk": lambda shown, cols, _: desk_list(shown, max(cols * 2 // 5, 32)),
}
"""The rows of each list, at a size of the terminal."""

WANTED: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("monitor", "running"): ("implementing", "busy"),
    ("monitor", "waiting"): (
        "coder-1 asks: Do you want to make this edit to loader.py? Enter to confirm, Esc to cancel",
        "x goes there At work",
    ),
    ("monitor", "to decide"): (
        "Duplicate keys raise an error that names both lines.",
        "unit tests: passed", "review logic: pass", "8 files changed", "a approve",
        "c ask for changes",
    ),
    ("monitor", "doubtful"): (
        "unit tests: failed (exit 1)", "FAILED test_loader.py::test_both_lines 1 failed",
        "Duplicate keys raise an error", "8 files changed", "An approval does this",
        "(verifying did not pass)", "a approve",
    ),
    ("monitor", "failed"): (
        "Agents", "failed: coder-1 was lost twice", "press r to start it again",
        "or stop it, then resume it, in a shell: agentmux stop",
    ),
    ("picker", "interrupted"): (
        "implementing: sub-plan 2 is not done", "its conversation comes back", "Enter resume",
    ),
    ("picker", "waiting"): ("waiting for you", "Enter attach"),
    ("picker", "running"): ("implementing  running",),
    ("picker", "failed"): (
        "! failed", "it failed: coder-1 was lost twice",
    ),
    ("picker", "doubtful"): (
        "completing: decide: check failed", "! verifying, unit tests: failed (exit 1)",
    ),
    ("question", "doubtful"): (
        "completing: decide: check failed", "! verifying, unit tests: failed (exit 1)",
    ),
    ("question", "interrupted"): (
        "Resume this session?", "implementing: sub-plan 2 is not done",
        "its conversation comes back", "Enter resume", "1-9 next choice",
    ),
    ("status", "waiting"): (
        "waiting for you", "next: agentmux", "coder-1 asks: Do you want to make this edit to",
    ),
    ("status", "doubtful"): (
        "unit tests: failed (exit 1) x FAILED test_loader.py::test_both_lines 1 failed",
        "next: agentmux request-changes", "agentmux approve",
    ),
    ("status", "to decide"): ("yours to decide", "unit tests: passed", "next: agentmux approve"),
    ("status", "failed"): (
        "it failed: coder-1 was lost twice", "next: agentmux restart",
    ),
    ("status", "interrupted"): ("the tmux server is gone", "next: agentmux resume"),
    ("resume --dry-run", "interrupted"): ("resumes in implementing", "its conversation comes back"),
}  # fmt: skip
"""What the first screen must say, by screen and case."""


def begun(name: str) -> list[str]:
    """Return the beginnings of a name that end with a word, because commands take them."""
    return [name[: each.start()] for each in re.finditer("-|$", name)]


_NARROW: Final = ("waits decide stalled failed check new", "more lines of the summary files press")
"""Words that only narrow screens show."""


@functools.cache
def drawn(screen: str, case: str, place: int, cols: int, rows: int) -> tuple[str, ...]:
    return tuple(SCREENS[screen](samples(case)[place], cols, rows))


def pane_cols(screen: str, case: str, cols: int) -> int:
    """Return the width of the pane in which a screen is, beside that of an agent."""
    if screen != "monitor" or not samples(case)[0].state.seats:
        return cols
    return 30 if cols < 110 else 44 if cols < 160 else 64


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("case", STATES)
@pytest.mark.parametrize("screen", SCREENS)
def test_what_is_needed_is_there_and_whole(screen: str, case: str, size: tuple[int, int]) -> None:
    """No id is wrapped, no word is cut, and what is to be decided on is in the first screen."""
    cols, rows = size
    wanted = WANTED.get((screen, case), ())
    for place, sample in enumerate(samples(case)):
        lines = drawn(screen, case, place, cols, rows)
        wide = drawn(screen, case, place, *_WIDE)
        names = (each for sample in samples(case) for each in (sample.name, sample.short))
        texts = (*wide, sample.state.feature, *_NARROW, *(each for n in names for each in begun(n)))
        assert too_wide(lines, cols) == []
        assert wrapped_ids(lines, {sample.name, sample.short}) == []
        assert list(cut_words(lines, texts, pane_cols(screen, case, cols))) == []
        seen = lines if screen in DRAWN else lines[-rows + 1 :]  # below it is the prompt
        assert beyond_first_screen(seen, rows, wanted) == []


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("case", ["", *STATES])
@pytest.mark.parametrize("name", LISTS)
def test_no_two_rows_of_a_list_are_equal(name: str, case: str, size: tuple[int, int]) -> None:
    shown = samples(case)
    rows = LISTS[name](shown, *size)
    assert len(rows) == len(shown)
    assert equal_rows(rows) == []
