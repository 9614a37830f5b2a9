"""Runs the server of the web page: opens its sockets, creates a login link, and cleans up."""

from __future__ import annotations

import functools
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import uvicorn

from agentmux.adapters.disk import files
from agentmux.adapters.disk.project_register import known_projects
from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.adapters.system.python.garbage import collect_often
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.errors import BlockedError, UsageError, data_error_from
from agentmux.overriding import override
from agentmux.web.application import application
from agentmux.web.events import Events
from agentmux.web.guard import PageAddress
from agentmux.web.last_address import keep_address, new_name
from agentmux.web.pages.reading import ProjectSessions
from agentmux.web.pages.screens import PageScreens
from agentmux.web.sign_in import SignIn
from agentmux.wiring import build, machine
from agentmux.wiring.fleet import fleet_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from agentmux.app.world import Site

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_ANYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 (compared, not bound)
_SECRET_BYTES: Final = 24
_END_S: Final = 1
_BACKLOG: Final = 128
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOptions:
    """The options of ``agentmux web``.

    Attributes:
        host: The address to listen at, from ``--listen``.
        port: The port to listen at, from ``--listen``; 0 for any free port.
        name: The host name that browsers use, from ``--host``; empty to have one chosen.
        read_only: Whether all forms except the login form are refused.
        behind_proxy: Whether a proxy in front of the server does TLS.
        cert: The file with the TLS certificate; None if the server does no TLS.
        key: The file with the key of the certificate; None if the server does no TLS.
        project: The project of the working directory; None if it is in none.
        config: The file given with ``--config``; None if there was none.
        environ: The environment variables.
    """

    host: str
    port: int
    name: str
    read_only: bool
    behind_proxy: bool
    cert: Path | None
    key: Path | None
    project: Path | None
    config: Path | None
    environ: Mapping[str, str]

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect to the server."""
        return self.host in _LOOPBACK

    def require_sense(self) -> None:
        """Check that the options can be combined.

        Raises:
            UsageError: They contradict each other, one is missing, or the page would lack TLS.
        """
        if (self.cert is None) != (self.key is None):
            raise UsageError("--tls-cert and --tls-key belong together")
        if self.behind_proxy and self.cert is not None:
            raise UsageError("--behind-proxy and --tls-cert exclude each other")
        if self.behind_proxy and not self.name:
            raise UsageError(
                "--behind-proxy needs the name by which browsers reach the proxy",
                hints=("agentmux web --behind-proxy --host NAME",),
            )
        if not self.is_loopback and self.cert is None and not self.behind_proxy:
            raise UsageError(
                f"at {self.host} others could read along: the page needs TLS there",
                hints=(
                    "agentmux web --listen HOST:PORT --tls-cert FILE --tls-key FILE",
                    "behind a proxy that does TLS: agentmux web --behind-proxy --host NAME",
                ),
            )
        if self.host in _ANYWHERE and not self.name:
            raise UsageError(
                "an address that stands for all needs the name that browsers use",
                hints=("agentmux web --listen 0.0.0.0:PORT --host NAME …",),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """Describes a server that is listening.

    Attributes:
        address: The address at which browsers reach the page.
        link: The URL with which the first browser can log in.
        exposed: A sentence that says what others can do, as `exposure` returns it; empty if others
            cannot reach the page.
    """

    address: PageAddress
    link: str
    exposed: str


def open_sockets(host: str, port: int) -> tuple[socket.socket, ...]:
    """Return sockets that listen at an address; for a loopback address, at both IPv4 and IPv6.

    Browsers try both. If a program of another user listened at the other address, it would receive
    the page's cookie. If ``port`` is 0, all sockets get the same free port. The caller must close
    the sockets.

    Raises:
        BlockedError: The port is in use, or this machine does not have the address.
    """
    hosts = ("127.0.0.1", "::1") if host in _LOOPBACK else (host,)
    for last in (False,) * 8 + (True,):
        sockets: list[socket.socket] = []
        try:
            sockets = _bind_sockets(hosts, port)
        except OSError as error:
            if port or last:
                raise BlockedError(
                    f"cannot listen at {host}:{port}: {data_error_from(error).message}",
                    reason="port",
                    hints=("agentmux web --listen 127.0.0.1:0",),
                ) from None
        else:
            return tuple(sockets)
    raise AssertionError


def _bind_sockets(hosts: tuple[str, ...], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for host in hosts:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            if family == socket.AF_INET6 and sockets and not _has_ipv6():
                continue
            listening = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(listening)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind((host, port or (sockets[0].getsockname()[1] if sockets[1:] else 0)))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
    except OSError:
        for each in sockets:
            each.close()
        raise
    return sockets


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def page_address(options: ServingOptions, port: int) -> PageAddress:
    """Return the address at which browsers reach a server with these options and this port.

    Without a name in the options it has a new one on loopback, else the address to listen at.
    """
    secure = options.behind_proxy or options.cert is not None
    name = options.name
    if not name and options.is_loopback:
        name = new_name()
    name = name or (f"[{options.host}]" if ":" in options.host else options.host)
    implied = options.behind_proxy or (secure and port == 443)
    host = name if implied or ":" in name.rpartition("]")[2] else f"{name}:{port}"
    scheme = "https" if secure else "http"
    return PageAddress(scheme=scheme, host=host.lower(), read_only=options.read_only)


def exposure(options: ServingOptions, place: PageAddress) -> str:
    """Return a sentence on what others can do on the page; empty if they cannot reach it.

    Others can reach a page behind a proxy, and one to which other machines can connect. Whoever
    logs in there can read all sessions of the user and, unless the page is read-only, decide on
    them.
    """
    may = "read" if options.read_only else "read and decide on"
    if options.behind_proxy:
        return f"whoever reaches {place.origin} and logs in can {may} all sessions of yours"
    if not options.is_loopback:
        return f"whoever reaches {options.host} and logs in can {may} all sessions of yours"
    return ""


class PageServer(uvicorn.Server):
    """A uvicorn server that ends the event streams before it ends itself at a signal.

    For that, it calls the function ``closing`` that is given to the constructor.
    """

    def __init__(self, config: uvicorn.Config, closing: Callable[[], None]) -> None:
        super().__init__(config)
        self._closing = closing

    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        """Context manager that handles the signals that end the server.

        Unlike uvicorn, it does not raise them again afterwards: that would end this process before
        it has cleaned up.
        """
        before = {each: signal.signal(each, self.handle_exit) for each in _SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal: end the event streams, then the server; does not wait for their end."""
        self._closing()
        super().handle_exit(sig, frame)


def build_application(
    options: ServingOptions, place: PageAddress, sign_in: SignIn
) -> tuple[ASGIApp, Events, PageScreens]:
    """Return the application for these options, with its event streams and screen captures.

    The caller must close the last two. ``place`` is the address at which browsers reach the page;
    ``sign_in`` knows which browsers are logged in.
    """
    register = machine.project_register(options.environ)

    def projects() -> tuple[Path, ...]:
        here = () if options.project is None else (options.project,)
        return tuple(dict.fromkeys((*here, *known_projects(register))))

    @functools.cache
    def site(project: Path) -> Site:
        source = build.site(project, config=options.config, environ=options.environ)
        return replace(source, terminal=lambda socket: screens.terminal(source.terminal(socket)))

    sessions = ProjectSessions(
        projects,
        site,
        functools.partial(
            build.world, config=options.config, environ=options.environ, read_only=True
        ),
    )
    events = Events(sessions, lambda: (register.parent,))
    screens = PageScreens(events.tell_from_thread)
    commands = CommandRuns(
        program=machine.program(),
        environ=options.environ,
        config=options.config,
        locate=machine.locate,
    )
    app = application(
        sessions,
        place=place,
        sign_in=sign_in,
        commands=commands,
        secret=new_secret,
        events=events,
        screens=screens,
        fleet=fleet_of(commands, options.project),
    )
    return app, events, screens


def new_secret() -> str:
    """Return a new random text that cannot be guessed, safe for use in URLs."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def serve(options: ServingOptions, ready: Callable[[RunningServer], None], folder: Path) -> None:
    """Serve the page, and return when SIGINT, SIGTERM or SIGHUP has ended the server.

    Args:
        options: The options of the command line.
        ready: A function that is called once, as soon as browsers can connect.
        folder: The folder given to `private_page`, whose file is removed at the end; it also keeps
            the last address on loopback, for the next server.

    Raises:
        UsageError: The options cannot be combined.
        BlockedError: The port is in use, or this machine does not have the address.
    """
    collect_often()
    options.require_sense()
    with _listen(options, folder) as (sockets, name):
        _serve_at(replace(options, name=name), sockets, ready, folder)


@contextmanager
def _listen(
    options: ServingOptions, folder: Path
) -> Iterator[tuple[tuple[socket.socket, ...], str]]:
    """Context manager that gives listening sockets, and the host name that browsers use.

    The name is empty if it is that of the address to listen at.
    """
    listen = functools.partial(open_sockets, options.host)
    if options.name or not options.is_loopback:
        yield listen(options.port), options.name
        return
    with keep_address(folder, options.port, listen) as kept:
        yield kept


def _serve_at(
    options: ServingOptions,
    sockets: tuple[socket.socket, ...],
    ready: Callable[[RunningServer], None],
    folder: Path,
) -> None:
    place = page_address(options, sockets[0].getsockname()[1])
    sign_in = SignIn(time.monotonic, new_secret)
    app, events, screens = build_application(options, place, sign_in)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        loop="asyncio",
        timeout_graceful_shutdown=_END_S,
        ssl_certfile=options.cert,
        ssl_keyfile=options.key,
    )
    link = f"{place.origin}/login/{sign_in.link()}"
    with _ended_by_signals():
        try:
            ready(RunningServer(address=place, link=link, exposed=exposure(options, place)))
            PageServer(config, events.close).run(sockets=list(sockets))
        finally:
            _page_in(folder, urlsplit(link).port or 443).unlink(missing_ok=True)
            screens.close()
            for each in sockets:
                each.close()


class _AskedToEndError(BaseException):
    """A signal has asked the process to end."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Context manager that leaves its block at a signal that ends the server, for the cleanup.

    While the server runs, it handles these signals itself.
    """

    def end(*_: object) -> None:
        raise _AskedToEndError

    before = {each: signal.signal(each, end) for each in _SIGNALS}
    try:
        yield
    except _AskedToEndError:
        pass
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def private_page(folder: Path, link: str) -> Path:
    """Write an HTML file that redirects a browser to a login link, and return its path.

    Only the user can read the file. Opening it keeps the link out of the browser's command line,
    which every user of the machine can read.

    Args:
        folder: The folder for the file; created if it is missing.
        link: The login link.
    """
    files.make_dir(folder)
    path = _page_in(folder, urlsplit(link).port or 443)
    files.replace(
        path,
        f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">'
        f'<a href="{link}">log in</a>\n'.encode(),
    )
    return path


def _page_in(folder: Path, port: int) -> Path:
    return folder / f"open-{port}.html"
