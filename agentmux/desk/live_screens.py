"""The live screens of the seat that somebody looks at, by one control client per tmux server."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.lookup import live
from agentmux.app.session.writer import stamp
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from datetime import datetime

    from agentmux.adapters.tmux.control_client import ControlClients
    from agentmux.adapters.tmux.own_session import OwnTmux
    from agentmux.app.session.lookup import SessionEntry
    from agentmux.app.views.last_screens import LastScreen
    from agentmux.app.world import Site
    from agentmux.ports.terminal import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panes:
    """The panes of a live session, by seat."""

    target: Target
    panes: Mapping[str, str]


class LiveScreens:
    """Captures panes of live sessions; its methods wait for tmux, so they are called in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: ControlClients | None = None
        self._known: dict[Path, _Panes] = {}

    def seats(self, site: Site, entry: SessionEntry) -> tuple[str, ...]:
        """Return the seats whose panes can be captured now; none of a session that is not live."""
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
        """Return what a seat's pane shows now, in one call of tmux; None if nobody can tell.

        Args:
            path: The session, of which `seats` was asked before.
            last: What was known of the seat's screen.
            now: The current time.
        """
        known = self._known.get(path)
        pane = known.panes.get(last.seat) if known is not None else None
        if known is None or pane is None:
            return None
        try:
            found = self._own(known.target).capture((pane,)).get(pane)
        except AgentmuxError:
            found = None
        return None if found is None else last.now(found, stamp(now))

    def _own(self, target: Target) -> OwnTmux:
        from agentmux.adapters.tmux.control_client import ControlClients  # noqa: PLC0415 (when it is shown)
        from agentmux.adapters.tmux.own_session import OwnTmux  # noqa: PLC0415 (as above)

        with self._lock:
            self._clients = self._clients or ControlClients()
        return OwnTmux(self._clients.of(target), target)

    def close(self) -> None:
        """End the clients; a later look begins new ones."""
        if self._clients is not None:
            self._clients.close()
