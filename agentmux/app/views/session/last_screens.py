"""The last screens of a session's seats, from their snapshots; reads only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux.core.codec.digests import screen_digest
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.times import time_of
from agentmux.core.names import layout
from agentmux.core.names.phase import ROLES
from agentmux.core.names.status_labels import age
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.terminal.text.captured_screen import SNAPSHOT_MAX, paint, plain, snapshot_screen
from agentmux.core.terminal.text.text_width import Cells, cell_width
from agentmux.errors import NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.ports.tmux.terminal import Screen

ReadFile = Callable[[Path, int], bytes | None]
"""Takes a path and a maximal size in bytes; returns the content of a regular file, or None.

None if there is no regular file at the path, or if it is larger.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastScreen:
    """The last screen of a seat's pane.

    Attributes:
        seat: The name of the seat, such as ``coder-2``.
        agent: The name of the seat's agent; empty if unknown.
        ansi: The rows joined by newlines, with SGR sequences.
        cols: The width of the screen, in columns.
        rows: The height of the screen, in rows.
        captured_at: When it was captured: UTC, ISO 8601; empty if unknown.
        exit_status: The exit status of the agent if it had ended by itself, else None.
    """

    seat: str
    agent: str
    ansi: str
    cols: int
    rows: int
    captured_at: str
    exit_status: int | None

    @property
    def digest(self) -> str:
        """The digest (a short hash) by which ``agentmux answer`` recognises this screen."""
        return screen_digest(self.ansi)

    def now(self, screen: Screen, at: str) -> LastScreen:
        """Return a copy with ``screen``, which the pane shows now, in place of the last screen.

        ``exit_status`` of the copy is None.

        Args:
            screen: The content of the pane.
            at: When it was captured: UTC, ISO 8601.
        """
        return replace(
            self,
            ansi=screen.ansi,
            cols=screen.cols,
            rows=screen.rows,
            captured_at=at,
            exit_status=None,
        )

    def paint_rows(self, cols: int | None = None, *, cells: Cells = cell_width) -> tuple[str, ...]:
        """Return the rows as text with SGR sequences, without the empty rows at the end.

        Args:
            cols: The column after which rows are cut; None keeps them whole.
            cells: Takes a character; returns how many columns it fills.
        """
        rows = len(self.text(cols, cells=cells))
        width = min(cols or self.cols, self.cols)
        return paint(self.ansi, width, self.rows, dim=False, cells=cells)[:rows]

    def text(self, cols: int | None = None, *, cells: Cells = cell_width) -> tuple[str, ...]:
        """Return the rows as plain text, without the empty rows at the end.

        Args:
            cols: The column after which rows are cut; None keeps them whole.
            cells: Takes a character; returns how many columns it fills.
        """
        rows = list(plain(self.ansi, min(cols or self.cols, self.cols), self.rows, cells=cells))
        while rows and not rows[-1]:
            rows.pop()
        return tuple(rows)

    def as_json(self) -> dict[str, object]:
        """Return the fields of this screen for a JSON answer.

        Its keys are the names of the attributes, ``digest``, and ``text``: the rows as plain text,
        joined by newlines. ``captured_at`` is None if unknown.
        """
        return {
            "seat": self.seat,
            "agent": self.agent,
            "captured_at": self.captured_at or None,
            "digest": self.digest,
            "exit_status": self.exit_status,
            "cols": self.cols,
            "rows": self.rows,
            "text": "\n".join(self.text()),
            "ansi": "\n".join(self.paint_rows()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LastScreens:
    """The last screens of a session's seats.

    Attributes:
        screens: The screens that can be read, with their seats in the order of the pipeline.
        warnings: One sentence for each screen that cannot be read.
    """

    screens: tuple[LastScreen, ...]
    warnings: tuple[str, ...]


def last_screens(entry: SessionEntry, read: ReadFile, *, seat: str | None = None) -> LastScreens:
    """Return the last screens of a session, with its seats in the order of the pipeline.

    Args:
        entry: The session.
        read: Takes a snapshot's path and a maximal size in bytes. Returns its content; None if
            there is no such file, or if it is larger.
        seat: The only seat to return; None returns all seats.

    Raises:
        NotFoundError: The session, or ``seat``, has no snapshot; or there is no such seat.
    """
    held = entry.fields.get("agents")
    seats = sorted(held, key=_place) if isinstance(held, Mapping) else []
    if seat is not None and seat not in seats:
        raise NotFoundError(
            f"session {entry.name} has no seat `{seat}`",
            hints=(*suggest_name(seat, seats), f"seats: {', '.join(seats)}"),
        )
    screens = list(_each(entry, read, seats if seat is None else [seat]))
    if not screens:
        whose = f"`{seat}` of session {entry.name}" if seat else f"session {entry.name}"
        raise NotFoundError(f"{whose} has no last screen", hints=(f"agentmux status {entry.name}",))
    return LastScreens(
        screens=tuple(each for each in screens if isinstance(each, LastScreen)),
        warnings=tuple(each for each in screens if isinstance(each, str)),
    )


def heading(screen: LastScreen, now: datetime) -> str:
    """Return the line to print above a screen: its seat, its agent, and how old it is at ``now``.

    If the agent had ended, its exit status is added.
    """
    parts = [screen.seat, screen.agent or "-", f"{age(_age_s(screen, now))} ago"]
    parts += [f"exit {screen.exit_status}"] if screen.exit_status is not None else []
    return f"== {' · '.join(parts)} =="


def _age_s(screen: LastScreen, now: datetime) -> float | None:
    captured = time_of(screen.captured_at)
    return None if captured is None else max(0.0, (now - captured).total_seconds())


def readable_screens(path: Path, seats: Iterable[str], read: ReadFile) -> tuple[LastScreen, ...]:
    """Return the last screens of these seats, without those that are missing or damaged.

    Args:
        path: The directory of the session.
        seats: The seats, in the order of the result.
        read: Takes a snapshot's path and a maximal size in bytes. Returns its content; None if
            there is no such file, or if it is larger.
    """
    screens = (_screen(seat, _data(path, seat, read)) for seat in seats)
    return tuple(each for each in screens if each is not None)


def _place(seat: str) -> tuple[int, int, str]:
    """Return the sort key of a seat: its role in the order of roles, then its number or topic."""
    roles = [each for each in ROLES if f"{seat}-".startswith(f"{each}-")]
    number = seat.rpartition("-")[2]
    place = ROLES.index(roles[0]) if roles else len(ROLES)
    return place, int(number) if number.isdecimal() else 0, seat


def no_screen(seat: str, agent: str = "") -> LastScreen:
    """Return an empty screen of one column and one row, for a seat of which no screen was kept.

    ``agent`` is the name of the seat's agent; empty if unknown.
    """
    return LastScreen(
        seat=seat, agent=agent, ansi="", cols=1, rows=1, captured_at="", exit_status=None
    )


def _each(entry: SessionEntry, read: ReadFile, seats: list[str]) -> Iterator[LastScreen | str]:
    for seat in seats:
        path = entry.path / layout.snapshot(seat)
        if os.path.lexists(path):
            data = _data(entry.path, seat, read)
            yield _screen(seat, data) or f"the last screen of `{seat}` cannot be read: {path}"


def _data(path: Path, seat: str, read: ReadFile) -> bytes | None:
    return read(path / layout.snapshot(seat), SNAPSHOT_MAX)


def _screen(seat: str, data: bytes | None) -> LastScreen | None:
    try:
        fields: Any = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    ansi = snapshot_screen(fields)
    if ansi is None:
        return None
    status = fields.get("exit_status")
    return LastScreen(
        seat=seat,
        agent=str(fields.get("agent") or ""),
        ansi=ansi,
        cols=fields["cols"],
        rows=fields["rows"],
        captured_at=str(fields.get("captured_at") or ""),
        exit_status=status if type(status) is int else None,
    )
