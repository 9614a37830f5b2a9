"""Draws the lines of the list of sessions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from agentmux.core.names.status_labels import Colour, Safety, StatusGroup, age, status_colour
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.list.listing import DeskRow, Heading, SessionListing
from agentmux.desk.list.titles import Title, draw_titles
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, fill, fit_parts

# With fewer columns the list has no room for the whole status, or for the phase.
_ROOMY: Final = 44
_WIDE: Final = 64
_AGE_COLS: Final = 4
_STATE_COLS: Final = 7
_LABEL_COLS: Final = 15
_WIDE_LABEL_COLS: Final = 19
_PHASE_COLS: Final = 14
MARKED: Final = "*"
"""The sign in front of a marked session."""
SELECTED: Final = ">"
"""The sign in front of the selected session."""

_SAFETY_COLOURS: Final = {
    Safety.SAFE: Colour.GREEN,
    Safety.CHOICE: Colour.YELLOW,
    Safety.BLOCKED: Colour.RED,
}


def heading_line(heading: Heading, cols: int) -> Line:
    """Return the line of a heading, cut to ``cols`` columns."""
    return fit_parts(((f"{heading.group} ", BOLD), (str(heading.count), DIM)), cols)


def titles_of(listing: SessionListing, cols: int) -> Mapping[Path, Title]:
    """Return the titles of all sessions that the list shows in ``cols`` columns, by directory.

    A title is a pair: the name of the session, and that of its project. The latter is empty if all
    sessions belong to one project.
    """
    places = ((row, _title_cols(row, cols)) for row in listing.shown_rows)
    return draw_titles(places, has_projects=listing.has_projects)


def row_line(listing: SessionListing, row: DeskRow, title: Title, cols: int, now: datetime) -> Line:
    """Return the line of a session in ``cols`` columns: its signs, title, status and age.

    The signs say whether it is selected and marked; a wide line also has the phase.

    Args:
        listing: The list, which knows the selected and the marked sessions.
        row: The session.
        title: Its title, as `titles_of` returns it for the same ``cols``.
        cols: The number of columns.
        now: The current time, from which the age is computed.
    """
    state, colour = _state(row, roomy=cols >= _ROOMY)
    ago = age(max(0.0, (now - row.updated).total_seconds()), least="m")
    sign = SELECTED if row.path == listing.selected_path else " "
    sign += MARKED if row.path in listing.marked else " "
    name, project = title
    beside = f" {project}" if project else ""
    gap = " " * (_title_cols(row, cols) - width(name) - width(beside) + 1)
    return fit_parts(
        (
            (sign, BOLD),
            (name, PLAIN),
            (beside, DIM),
            (gap, PLAIN),
            (f"{fill(row.row.phase_beside_label, _PHASE_COLS)} " if cols >= _WIDE else "", DIM),
            (fill(state, _state_cols(row, cols)), colour),
            (f" {ago:>{_AGE_COLS}}", DIM),
        ),
        cols,
    )


def _title_cols(row: DeskRow, cols: int) -> int:
    """Return how many of ``cols`` columns the title of a session has."""
    phase_cols = _PHASE_COLS + 1 if cols >= _WIDE else 0
    return max(cols - 2 - phase_cols - _state_cols(row, cols) - _AGE_COLS - 2, 0)


def _state_cols(row: DeskRow, cols: int) -> int:
    state, _ = _state(row, roomy=cols >= _ROOMY)
    usual = _WIDE_LABEL_COLS if cols >= _WIDE else _LABEL_COLS
    usual = usual if cols >= _ROOMY else _STATE_COLS
    return min(max(usual, width(state)), cols // 2)  # a name is cut before a status


def _state(row: DeskRow, *, roomy: bool) -> tuple[str, str]:
    """Return a text for the status of a session, never empty, and its colour."""
    shown = row.row
    if row.is_lost:
        return ("to reattach" if roomy else "reattach"), Colour.YELLOW.value
    if shown.group is StatusGroup.INTERRUPTED and row.safety is not None:
        word = row.safety.value if roomy else row.safety.mark
        return word, _SAFETY_COLOURS[row.safety].value
    colour = status_colour(shown.status).value
    if roomy:
        return shown.label, colour
    return shown.mark or shown.label, colour
