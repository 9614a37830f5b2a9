"""What every request must pass before a page sees it, and the headers of every answer.

The checks are in the order of the table `CHECKS`. The first one that refuses answers.
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
"""The most bytes of a form: a message of 32 KiB with each byte escaped, and the rest."""

FORM_PROOF: Final = "token"
"""The name of the field by which a form shows that it is ours."""

LOGIN: Final = "/login/"
_PUBLIC: Final = (LOGIN, "/static/")

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
_FRESH: Final = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAddress:
    """Where browsers find the page.

    Attributes:
        scheme: ``http`` or ``https``.
        host: The one ``Host`` that is answered: a name, with the port unless the scheme implies it.
        read_only: No form but the login's is taken.
    """

    scheme: str
    host: str
    read_only: bool = False

    @property
    def origin(self) -> str:
        """The origin of our own forms."""
        return f"{self.scheme}://{self.host}"

    @property
    def is_secure(self) -> bool:
        """Whether cookies may be kept from plain HTTP."""
        return self.scheme == "https"

    @property
    def cookie(self) -> str:
        """The name of our cookie; browsers let no other host set one that begins with `__Host-`."""
        return "__Host-agentmux" if self.is_secure else "agentmux"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """One request, as far as the checks look at it.

    Attributes:
        cookies: The values of our cookie: a browser may send several of the same name.
        visit: The browser, if it is logged in.
        form: The fields of a POST; empty for others.
    """

    place: PageAddress
    method: str
    path: str
    host: str
    origin: str
    cookies: tuple[str, ...]
    visit: SignedInBrowser | None
    form: Mapping[str, str]

    @property
    def is_public(self) -> bool:
        """Whether it is for those who are not logged in, too."""
        return self.path.startswith(_PUBLIC)

    @property
    def is_post(self) -> bool:
        """Whether it may change something."""
        return self.method == "POST"


Refusal = tuple[HTTPStatus, str]


def check_host(asked: PageRequest) -> Refusal | None:
    """Refuse other host names: a name of somebody else may lead here, too (DNS rebinding)."""
    if asked.host == asked.place.host:
        return None
    return HTTPStatus.MISDIRECTED_REQUEST, f"this page is at {asked.place.origin}"


def check_visit(asked: PageRequest) -> Refusal | None:
    """Refuse browsers that are not logged in."""
    if asked.is_public or asked.visit is not None:
        return None
    return HTTPStatus.UNAUTHORIZED, "this browser is not logged in"


def check_origin(asked: PageRequest) -> Refusal | None:
    """Refuse forms of other sites, and of pages that do not say where they are from."""
    if not asked.is_post or asked.origin == asked.place.origin:
        return None
    return HTTPStatus.FORBIDDEN, "this form was sent by another site"


def check_token(asked: PageRequest) -> Refusal | None:
    """Refuse forms that no page of this browser has made."""
    if not asked.is_post or asked.is_public:
        return None
    known = asked.visit.token if asked.visit is not None else ""
    given = asked.form.get(FORM_PROOF, "")
    if known and secrets.compare_digest(given.encode(), known.encode()):
        return None
    return HTTPStatus.FORBIDDEN, "this form is not one of this page: load the page again"


def check_read_only(asked: PageRequest) -> Refusal | None:
    """Refuse changes where only reading is allowed."""
    if not asked.is_post or asked.is_public or not asked.place.read_only:
        return None
    return HTTPStatus.FORBIDDEN, "this page is read-only"


def check_path(asked: PageRequest) -> Refusal | None:
    """Refuse a zero byte: neither a path nor a word of a command can have one."""
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


class RequestGuard:
    """Runs the checks in front of an application, and adds the headers to its answers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        place: PageAddress,
        sign_in: SignIn,
        refused: Callable[[Request, HTTPStatus, str], Response],
    ) -> None:
        """Take the application, and what makes the answer to a refused request."""
        self._app, self._place, self._sign_in, self._refused = app, place, sign_in, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
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
            visit=asked.visit, form=asked.form, cookies=asked.cookies
        )
        if refusal is not None:
            await self._refused(request, *refusal)(scope, receive, answer)
        else:
            await self._app(scope, receive, answer)

    async def _read_request(self, request: Request) -> PageRequest:
        cookies = tuple(_cookies(request, self._place.cookie))
        return PageRequest(
            place=self._place,
            method=request.method,
            path=request.scope["path"],
            host=request.headers.get("host", ""),
            origin=request.headers.get("origin", ""),
            cookies=cookies,
            visit=self._sign_in.visit(cookies),
            form=await _form(request) if request.method == "POST" else {},
        )


class _TooLargeError(Exception):
    """A form has more bytes than any of ours."""


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
    """Return the fields of a form as browsers send it without files."""
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
