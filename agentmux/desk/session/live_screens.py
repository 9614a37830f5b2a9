"""Captures the live screens of seats, with one tmux client in control mode per tmux server."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import SessionEntry, live
from agentmux.app.session.writer import stamp
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from datetime import datetime

    from agentmux.adapters.tmux.control_client import ControlClients
    from agentmux.adapters.tmux.own_session import OwnTmux
    from agentmux.app.views.session.last_screens import LastScreen
    from agentmux.app.world import Site
    from agentmux.ports.tmux.terminal import Target

_FRESH_S: Final = 0.95
"""For how many seconds a capture is reused.

It is a little less than the second between two captures, because a timer may be early.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panes:
    """The panes of a live session.

    Attributes:
        target: The session's tmux session.
        panes: The ids of the panes, by seat.
    """

    target: Target
    panes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recent:
    """The latest capture of a pane.

    Attributes:
        until: Until when the capture is reused, in seconds of the monotonic clock.
        screen: The captured screen.
    """

    until: float
    screen: LastScreen


class LiveScreens:
    """Captures the panes of live sessions. Its methods wait for tmux, so call them in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._one = (
            threading.Lock()
        )  # of two looks at a time, the second takes what the first found
        self._clients: ControlClients | None = None
        self._known: dict[Path, _Panes] = {}
        self._recent: dict[tuple[Path, str], _Recent] = {}

    def seats(self, site: Site, entry: SessionEntry) -> tuple[str, ...]:
        """Return the seats of a session whose panes can be captured now.

        Empty if the session is not live or tmux does not answer. The panes are remembered for
        `screen`.
        """
        self._known.pop(entry.path, None)
        try:
            target = live(site, (entry,))[entry.path].target
            if target is None:
                return ()
            panes = {each.seat: each.id for each in self._own(target).panes() if each.seat}
        except AgentmuxError:
            return ()
        self._known[entry.path] = _Panes(target=target, panes=panes)
        return tuple(panes)

    def screen(self, path: Path, last: LastScreen, now: datetime) -> LastScreen | None:
        """Return the current screen of a seat; None if it cannot be captured.

        A capture less than a second old is returned again; otherwise tmux is called once.

        Args:
            path: The session's directory; `seats` must have been called for it before.
            last: The screen of the seat that is known so far.
            now: The current time.
        """
        known = self._known.get(path)
        pane = known.panes.get(last.seat) if known is not None else None
        if known is None or pane is None:
            return None
        with self._one:
            return self._capture_pane(known.target, path, pane, last, now)

    def _capture_pane(
        self, target: Target, path: Path, pane: str, last: LastScreen, now: datetime
    ) -> LastScreen | None:
        recent, begun = self._recent.get((path, pane)), time.monotonic()
        if recent and begun < recent.until:
            return recent.screen
        try:
            pane_screen = self._own(target).capture((pane,)).get(pane)
        except AgentmuxError:
            pane_screen = None
        if pane_screen is None:
            return None
        screen = last.now(pane_screen, stamp(now))
        self._recent[path, pane] = _Recent(until=begun + _FRESH_S, screen=screen)
        return screen

    def _own(self, target: Target) -> OwnTmux:
        from agentmux.adapters.tmux.control_client import ControlClients
        from agentmux.adapters.tmux.own_session import OwnTmux

        with self._lock:
            self._clients = self._clients or ControlClients()
        return OwnTmux(self._clients.of(target), target)

    def close(self) -> None:
        """End the tmux clients. A later capture starts new ones."""
        self._recent.clear()
        if self._clients is not None:
            self._clients.close()
