"""Adds screen digests to a session's view, and tells which agents ask a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.search.lookup import live, require_live
from agentmux.app.session.writer import stamp
from agentmux.app.views.plain_fields import mapping
from agentmux.app.views.session.last_screens import (
    LastScreen,
    ReadFile,
    no_screen,
    readable_screens,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.names.statuses import WAITING
from agentmux.errors import NotFoundError

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.app.world import Site, World


def with_screens(entry: SessionEntry, view: SessionView, read: ReadFile) -> SessionView:
    """Return the view with ``screen`` in its seats: digest and time of each seat's last screen.

    A seat without a screen is returned unchanged.

    Args:
        entry: The session.
        view: The view.
        read: Takes a snapshot's path and a maximal size in bytes. Returns its content; None if
            there is no such file, or if it is larger.
    """
    screens = {each.seat: each for each in _screens(entry, view, read)}
    seats = (
        replace(seat, screen=_fields(screens[seat.seat])) if seat.seat in screens else seat
        for seat in view.seats
    )
    return replace(view, seats=tuple(seats))


def present_screen(world: World, entry: SessionEntry, seat: str, read: ReadFile) -> LastScreen:
    """Return what the pane of a seat shows now; the session must be live.

    Args:
        world: The project, with its settings and tools.
        entry: The session.
        seat: The name of the seat, such as ``coder-2``.
        read: Takes the path of the seat's snapshot and a maximal size in bytes. Returns the
            content, which says which agent has the seat; None if there is no such file, or if it is
            larger.

    Raises:
        NotFoundError: The session is not live, or the seat has no pane.
        TerminalError: The tmux server does not answer.
    """
    target = require_live(entry, live(world, (entry,))[entry.path])
    own = world.terminal(target.server.socket).own(target)
    pane = next((each.id for each in own.panes() if each.seat == seat), "")
    screen = own.capture((pane,)).get(pane) if pane else None
    if screen is None:
        hints = (f"agentmux status {entry.name}",)
        raise NotFoundError(f"`{seat}` of session {entry.name} has no pane", hints=hints)
    last = readable_screens(entry.path, (seat,), read)
    return (last[0] if last else no_screen(seat)).now(screen, stamp(world.now()))


def asking_seats(site: Site, entry: SessionEntry) -> frozenset[str]:
    """Return the names of the seats whose agents ask a question, by the orchestrator's last note.

    Empty if no orchestrator runs.
    """
    if not site.locks.session(entry.path).is_held():
        return frozenset()
    statuses = mapping(site.folders.runtime(entry.path), "statuses")
    return frozenset(name for name in statuses if mapping(statuses, name).get("status") == WAITING)


def _screens(entry: SessionEntry, view: SessionView, read: ReadFile) -> tuple[LastScreen, ...]:
    return readable_screens(entry.path, (seat.seat for seat in view.seats), read)


def _fields(screen: LastScreen) -> dict[str, object]:
    return {"digest": screen.digest, "captured_at": screen.captured_at or None}
