"""Caches the listings of tmux servers, for commands that look at several projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from agentmux.core.codec.frozen import replace
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.ports.tmux.terminal import ServerListing, Terminal

S = TypeVar("S", bound="Site")


class CachedListings:
    """Lists the sessions of each tmux server only once, for several sites together."""

    def __init__(self) -> None:
        self._at: dict[str, _Listed] = {}

    def by(self, site: S) -> S:
        """Return a copy of the site whose terminals take their listings from this cache.

        These terminals can do nothing else, so the copy serves only to look at sessions.
        """

        def terminal(socket: str | None) -> Terminal:
            site_terminal = site.terminal(socket)
            listed = self._at.setdefault(site_terminal.socket, _Listed(site_terminal))
            return cast("Terminal", listed)  # looking at sessions calls nothing else

        return replace(site, terminal=terminal)


class _Listed:
    """A tmux server whose sessions are listed only once; the listing, or its error, is kept."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._said: ServerListing | AgentmuxError | None = None

    @property
    def socket(self) -> str:
        return self._terminal.socket

    def listing(self) -> ServerListing:
        if self._said is None:
            try:
                self._said = self._terminal.listing()
            except AgentmuxError as error:
                self._said = error
        if isinstance(self._said, AgentmuxError):
            raise self._said
        return self._said
