"""The screens of seats: the current ones of a live session, else the last ones that were saved.

Each tmux server is queried through one client in control mode, which runs only while a browser
shows screens.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.tmux.control_client import ControlClients
from agentmux.adapters.tmux.own_session import OwnTmux
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.app.session.search.lookup import live
from agentmux.app.session.writer import stamp
from agentmux.app.views.session.last_screens import LastScreen, no_screen
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError
from agentmux.ports.tmux.terminal import Screen, Target, Terminal, TerminalError
from agentmux.web.pages.reading import SessionRef, last_screens_of

LOOK_S: Final = 10.0
"""For how many seconds after a request for screens the session counts as being looked at.

Pages in a visible browser tab ask again sooner.
"""

EVERY_S: Final = 1.0
"""Seconds between two comparisons of the current screens with those that were last shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """A session whose screens a browser is showing.

    Attributes:
        place: The session.
        target: The session's tmux session.
        seats: The seats whose screens are shown.
        shown: The digests of the screens that were last shown, by seat.
        until: Until when this counts, in seconds of the monotonic clock.
    """

    place: SessionRef
    target: Target
    seats: tuple[str, ...]
    shown: Mapping[str, str]
    until: float


class PageScreens:
    """Captures the screens of seats, and reports changes of screens that a browser is showing."""

    def __init__(self, changed: Callable[[str], object]) -> None:
        """Start without tmux clients.

        Args:
            changed: A function that is called, in a thread, with the name of each session whose
                screens have changed.
        """
        self._changed = changed
        self._lock = threading.Lock()
        self._looks: dict[Path, _Look] = {}
        self._clients = ControlClients()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def of(self, place: SessionRef, seats: Sequence[str]) -> Mapping[str, LastScreen]:
        """Return the screens of these seats of a session, by seat, and watch them for ten seconds.

        A screen is captured now if the session is live and tmux answers; else it is the last saved
        one. Seats without a screen are left out. While captured screens are watched, a thread calls
        the function ``changed`` of the constructor when one of them changes; saved screens are not
        watched.
        """
        last = last_screens_of(place, seats)
        if not seats:
            return last
        try:
            target = live(place.site, (place.entry(),))[place.path].target
            if target is None:
                return last
            panes = self._capture_panes(target, seats)
        except AgentmuxError:
            return last
        now = stamp(place.site.now())
        shown = {
            seat: last.get(seat, no_screen(seat)).now(screen, now) for seat, screen in panes.items()
        }
        self._register_look(
            place, target, tuple(seats), {seat: shown[seat].digest for seat in shown}
        )
        return {**last, **shown}

    def terminal(self, found: Terminal) -> Terminal:
        """Return a terminal that reaches the tmux server of ``found`` through a running client.

        That is a control-mode client, a tmux process that is kept for many calls. If none runs for
        this server, none is started, and the result is ``found`` itself.
        """
        client = self._clients.running(found.socket)
        return found if client is None else TmuxTerminal(client=client)

    def close(self) -> None:
        """End the tmux clients, and let the thread end."""
        self._ended.set()
        self._clients.close()

    # -- tmux ----------------------------------------------------------------------------------

    def _capture_panes(self, target: Target, seats: Sequence[str]) -> Mapping[str, Screen]:
        """Return the current screens of these seats' panes, by seat.

        Raises:
            TerminalError: The tmux session is gone, or the tmux server does not answer.
        """
        own = OwnTmux(self._clients.of(target), target)
        panes = {pane.seat: pane.id for pane in own.panes() if pane.seat in seats}
        screens = own.capture(tuple(panes.values())) if panes else {}
        return {seat: screens[pane] for seat, pane in panes.items() if pane in screens}

    # -- who looks -----------------------------------------------------------------------------

    def _register_look(
        self, place: SessionRef, target: Target, seats: tuple[str, ...], shown: Mapping[str, str]
    ) -> None:
        look = _Look(
            place=place,
            target=target,
            seats=seats,
            shown=shown,
            until=time.monotonic() + LOOK_S,
        )
        with self._lock:
            self._looks[place.path] = look
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._compare, daemon=True)
                self._thread.start()

    def _compare(self) -> None:
        """Report changed screens until no browser shows any; then end the tmux clients."""
        while not self._ended.wait(EVERY_S) and (looks := self._present_looks()):
            for look in looks:
                if self._differs(look):
                    self._changed(look.place.name)

    def _present_looks(self) -> tuple[_Look, ...]:
        """Return the looks that still count; if there are none, end the clients and this thread."""
        with self._lock:
            now = time.monotonic()
            self._looks = {at: each for at, each in self._looks.items() if now < each.until}
            if self._looks:
                return tuple(self._looks.values())
            self._thread = None
            self._clients.close()
        return ()

    def _differs(self, look: _Look) -> bool:
        try:
            panes = self._capture_panes(look.target, look.seats)
        except TerminalError:
            return False
        now = {seat: no_screen(seat).now(screen, "").digest for seat, screen in panes.items()}
        return now != look.shown
