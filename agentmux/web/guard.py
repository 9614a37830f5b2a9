"""Checks every request before a page handles it, and adds security headers to every response.

The checks run in the order of `CHECKS`. The first one that refuses the request ends it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from agentmux.web.sign_in import SignedInBrowser, SignIn

BODY_MAX: Final = 1 << 18
"""The most bytes of a form: enough for a message of 32 KiB with every byte percent-encoded."""

FORM_PROOF: Final = "token"
"""The name of the form field with the CSRF token, `SignedInBrowser.token`."""

LOGIN: Final = "/login/"
"""The start of the path of login links."""
_PUBLIC: Final = (LOGIN, "/static/")
_STYLE: Final = "/static/web.css"

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With `no-referrer`, browsers would send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""The headers that are added to every response."""
_FRESH: Final = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAddress:
    """The address at which browsers reach the page.

    Attributes:
        scheme: ``http`` or ``https``.
        host: The only accepted value of the ``Host`` header: a name, with the port unless it is the
            default of the scheme.
        read_only: Whether all forms except the login form are refused.
    """

    scheme: str
    host: str
    read_only: bool = False

    @property
    def origin(self) -> str:
        """The value of the ``Origin`` header that browsers send with the page's own forms."""
        return f"{self.scheme}://{self.host}"

    @property
    def is_secure(self) -> bool:
        """Whether the page uses HTTPS, so that its cookie can be restricted to HTTPS."""
        return self.scheme == "https"

    @property
    def cookie(self) -> str:
        """The name of the page's cookie.

        With HTTPS it begins with ``__Host-``, so that browsers accept it from this host only.
        """
        return "__Host-agentmux" if self.is_secure else "agentmux"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The parts of a request that the checks use.

    Attributes:
        address: The address at which browsers reach the page.
        method: The HTTP method.
        path: The path, decoded.
        host: The ``Host`` header; empty if it is missing.
        origin: The ``Origin`` header; empty if it is missing.
        cookies: The values of the page's cookie; a browser may send several with the same name.
        login: The login of the browser; None if it is not logged in.
        form: The form fields of a POST request; empty for other methods.
    """

    address: PageAddress
    method: str
    path: str
    host: str
    origin: str
    cookies: tuple[str, ...]
    login: SignedInBrowser | None
    form: Mapping[str, str]

    @property
    def is_public(self) -> bool:
        """Whether the path can be used without being logged in: login links and static files."""
        return self.path.startswith(_PUBLIC)

    @property
    def is_post(self) -> bool:
        """Whether this is a POST request, the only kind that may change something."""
        return self.method == "POST"


Refusal = tuple[HTTPStatus, str]
"""The status of the response to a refused request, and the reason in words."""


def check_host(asked: PageRequest) -> Refusal | None:
    """Return the refusal if a request is for another host name than the page's, else None.

    A refusal is a pair: the status of the response, and the reason in words. Such a request may
    come from an attack by DNS rebinding. Only the style sheet is for all, as the page with the
    refusal uses it.
    """
    if asked.host == asked.address.host or (asked.path == _STYLE and not asked.is_post):
        return None
    return HTTPStatus.MISDIRECTED_REQUEST, f"this page is at {asked.address.origin}"


def check_visit(asked: PageRequest) -> Refusal | None:
    """Return the refusal if the browser is not logged in and the path not public, else None.

    A refusal is a pair: the status of the response, and the reason in words.
    """
    if asked.is_public or asked.login is not None:
        return None
    return HTTPStatus.UNAUTHORIZED, "this browser is not logged in"


def check_origin(asked: PageRequest) -> Refusal | None:
    """Return the refusal of a form whose ``Origin`` is missing or another site's, else None.

    A form is a POST request; other requests pass. A refusal is a pair: the status of the response,
    and the reason in words.
    """
    if not asked.is_post or asked.origin == asked.address.origin:
        return None
    return HTTPStatus.FORBIDDEN, "this form was sent by another site"


def check_token(asked: PageRequest) -> Refusal | None:
    """Return the refusal of a form without the CSRF token of this browser's login, else None.

    A form is a POST request; other requests pass, and so do forms at public paths. A refusal is a
    pair: the status of the response, and the reason in words.
    """
    if not asked.is_post or asked.is_public:
        return None
    known = asked.login.token if asked.login is not None else ""
    given = asked.form.get(FORM_PROOF, "")
    if known and secrets.compare_digest(given.encode(), known.encode()):
        return None
    return HTTPStatus.FORBIDDEN, "this form is not one of this page: load the page again"


def check_read_only(asked: PageRequest) -> Refusal | None:
    """Return the refusal of a form if the page is read-only, else None; the login form passes.

    A form is a POST request; other requests pass. A refusal is a pair: the status of the response,
    and the reason in words.
    """
    if not asked.is_post or asked.is_public or not asked.address.read_only:
        return None
    return HTTPStatus.FORBIDDEN, "this page is read-only"


def check_path(asked: PageRequest) -> Refusal | None:
    """Return the refusal if the path has a NUL byte, else None.

    Neither a file name nor a command line can contain such a byte. A refusal is a pair: the status
    of the response, and the reason in words.
    """
    if "\0" not in asked.path:
        return None
    return HTTPStatus.NOT_FOUND, "there is no such page (not found)"


CHECKS: Final[tuple[Callable[[PageRequest], Refusal | None], ...]] = (
    check_host,
    check_visit,
    check_origin,
    check_token,
    check_read_only,
    check_path,
)
"""All checks, in order. A check returns the refusal, or None if the request passes."""


class RequestGuard:
    """ASGI middleware that refuses requests which fail a check, and adds headers to responses.

    The checks (`CHECKS`) are about the host, the login, the origin and token of forms, a read-only
    page, and the path. A form that is too large is refused, too. A refused request does not reach
    the application. The headers are those of `HEADERS`, which protect the page in browsers.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        place: PageAddress,
        sign_in: SignIn,
        refused: Callable[[Request, HTTPStatus, str], Response],
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            place: The address at which browsers reach the page.
            sign_in: Knows which browsers are logged in.
            refused: Returns the response to a refused request, given the status and the reason.
        """
        self._app, self._place, self._sign_in, self._refused = app, place, sign_in, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request: pass it on to the application, or respond with the refusal."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no page has a web socket
        request = Request(scope, receive)
        answer = _with_headers(send)
        try:
            asked = await self._read_request(request)
        except _TooLargeError:
            large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            await self._refused(request, large, "the form is too large")(scope, receive, answer)
            return
        except ClientDisconnect:
            return
        refusal = next((reason for check in CHECKS if (reason := check(asked)) is not None), None)
        scope.setdefault("state", {}).update(
            visit=asked.login, form=asked.form, cookies=asked.cookies
        )
        if refusal is not None:
            await self._refused(request, *refusal)(scope, receive, answer)
        else:
            await self._app(scope, receive, answer)

    async def _read_request(self, request: Request) -> PageRequest:
        cookies = tuple(_cookies(request, self._place.cookie))
        return PageRequest(
            address=self._place,
            method=request.method,
            path=request.scope["path"],
            host=request.headers.get("host", ""),
            origin=request.headers.get("origin", ""),
            cookies=cookies,
            login=self._sign_in.find_login(cookies),
            form=await _form(request) if request.method == "POST" else {},
        )


class _TooLargeError(Exception):
    """A form has more than `BODY_MAX` bytes."""


def _cookies(request: Request, name: str) -> list[str]:
    cookies = []
    for header in request.headers.getlist("cookie"):
        for pair in header.split(";"):
            held: SimpleCookie = SimpleCookie()
            try:
                held.load(pair.strip())
            except CookieError:
                continue
            cookies += [each.value for each in held.values() if each.key == name]
    return cookies


async def _form(request: Request) -> Mapping[str, str]:
    """Return the fields of a URL-encoded form.

    Raises:
        _TooLargeError: The form has more than `BODY_MAX` bytes.
    """
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_MAX:
            raise _TooLargeError
    text = data.decode("utf-8", "replace")
    fields = parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace")
    return {name: value.replace("\0", "\ufffd") for name, value in fields}


def _with_headers(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            held = message.setdefault("headers", [])
            there = {name.lower() for name, _ in held}
            wanted = HEADERS if b"cache-control" in there else {**HEADERS, "cache-control": _FRESH}
            held += [(name.encode(), text.encode()) for name, text in wanted.items()]
        await send(message)

    return answer
