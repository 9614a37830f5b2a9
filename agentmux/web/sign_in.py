"""Login links, each of which can be used once, and the browsers that have logged in with one.

Everything is held in memory: when the server ends, all links and logins are lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass

LINK_S: Final = 600.0
"""For how many seconds a login link can be used."""

VISIT_S: Final = 30 * 86_400.0
"""For how many seconds a browser stays logged in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInBrowser:
    """The login of one browser.

    Attributes:
        token: The CSRF token: every form of this browser has to contain it, so that no other site
            can send forms in its name.
        until: When the login ends, in seconds of the clock given to `SignIn`.
    """

    token: str
    until: float


class SignIn:
    """Creates login links, each for one use, and keeps the logins of browsers in memory."""

    def __init__(self, clock: Callable[[], float], secret: Callable[[], str]) -> None:
        """Start without links and logins.

        Args:
            clock: Returns the time in seconds; it never goes back.
            secret: Returns a new random text that cannot be guessed.
        """
        self._clock, self._secret = clock, secret
        self._links: dict[str, float] = {}
        self._visits: dict[str, SignedInBrowser] = {}

    def link(self) -> str:
        """Create a login link, and return its secret, the last part of its URL.

        It can be used once, within `LINK_S` seconds (ten minutes). Earlier links stay usable.
        """
        secret = self._secret()
        self._links[_hash(secret)] = self._clock() + LINK_S
        return secret

    def is_open(self, link: str) -> bool:
        """Return whether the login link with the secret ``link`` is usable; does not use it."""
        return self._clock() < self._links.get(_hash(link), 0.0)

    def use_link(self, link: str) -> str | None:
        """Use the login link with the secret ``link``, and return the cookie of a new login.

        The cookie is its value, a random text. None if the link is unknown, used or too old.
        """
        if not self.is_open(link):
            return None
        del self._links[_hash(link)]
        cookie, until = self._secret(), self._clock() + VISIT_S
        self._visits[_hash(cookie)] = SignedInBrowser(token=self._secret(), until=until)
        return cookie

    def find_login(self, cookies: tuple[str, ...]) -> SignedInBrowser | None:
        """Return the login that one of these cookie values belongs to.

        None if there is none, or if its time is over.
        """
        known = (self._visits.get(_hash(each)) for each in cookies)
        return next((each for each in known if each and self._clock() < each.until), None)

    def log_out(self, cookies: tuple[str, ...]) -> None:
        """End the logins that these cookie values belong to; unknown values are no error."""
        for each in cookies:
            self._visits.pop(_hash(each), None)


def _hash(secret: str) -> str:
    # Hashes are looked up, so that the time of a lookup does not tell how much of a guess is right.
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
