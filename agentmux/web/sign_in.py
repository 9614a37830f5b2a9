"""Who may use the page: login links, which are spent once, and the browsers that spent one.

Everything is held in memory: with the end of the server all links and browsers are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass

LINK_S: Final = 600.0
"""How long a login link can be spent."""

VISIT_S: Final = 30 * 86_400.0
"""How long a browser stays logged in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInBrowser:
    """A browser that is logged in.

    Attributes:
        token: What its forms send along, so that no other site can send them (CSRF).
        until: When it ends, by the clock of the server.
    """

    token: str
    until: float


class SignIn:
    """The links that can still be spent, and the browsers that are logged in."""

    def __init__(self, clock: Callable[[], float], secret: Callable[[], str]) -> None:
        """Take a clock in seconds that never goes back, and what makes unguessable texts."""
        self._clock, self._secret = clock, secret
        self._links: dict[str, float] = {}
        self._visits: dict[str, SignedInBrowser] = {}

    def link(self) -> str:
        """Return the secret of a new login link."""
        secret = self._secret()
        self._links[_hash(secret)] = self._clock() + LINK_S
        return secret

    def is_open(self, link: str) -> bool:
        """Return whether the link can be spent; this does not spend it."""
        return self._clock() < self._links.get(_hash(link), 0.0)

    def spend(self, link: str) -> str | None:
        """Spend a link; return the cookie of the browser, None for a link that is spent or old."""
        if not self.is_open(link):
            return None
        del self._links[_hash(link)]
        cookie, until = self._secret(), self._clock() + VISIT_S
        self._visits[_hash(cookie)] = SignedInBrowser(token=self._secret(), until=until)
        return cookie

    def visit(self, cookies: tuple[str, ...]) -> SignedInBrowser | None:
        """Return the browser that has one of these cookies; None if none of them is ours."""
        known = (self._visits.get(_hash(each)) for each in cookies)
        return next((each for each in known if each and self._clock() < each.until), None)

    def leave(self, cookies: tuple[str, ...]) -> None:
        """Log out the browser that has these cookies."""
        for each in cookies:
            self._visits.pop(_hash(each), None)


def _hash(secret: str) -> str:
    # A table of hashes: looking a guess up takes no time that tells how much of it is right.
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
