"""The command ``agentmux web``; the package `agentmux.web` is imported only when it runs."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.invocation import Invocation, absolute
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.web.serving import RunningServer


_ONLY_HERE: Final = (
    "only browsers on this machine reach it; a phone needs --listen and TLS, or --behind-proxy"
)


def web(
    ctx: typer.Context,
    listen: Annotated[
        str,
        typer.Option(
            "--listen", metavar="HOST:PORT", help="Listen there; port 0 is any that is free."
        ),
    ] = "127.0.0.1:0",
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="NAME", help="The host name in the address that browsers use."
        ),
    ] = "",
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser here.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show everything, and let nobody decide.")
    ] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front of it does TLS; needs --host.")
    ] = False,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="The TLS certificate (PEM).")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="The key of the certificate.")
    ] = None,
) -> int:
    """Serve the sessions of all projects to a browser, until Ctrl-C.

    Without --listen only this machine can connect. The command prints a link with which one browser
    can log in within ten minutes. The buttons of the page run the commands that you would type.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "web")
    from agentmux.web import serving
    from agentmux.wiring import machine

    at, port = _address(listen)
    options = serving.ServingOptions(
        host=at,
        port=port,
        name=host,
        read_only=read_only,
        behind_proxy=behind_proxy,
        cert=_file(tls_cert),
        key=_file(tls_key),
        project=invocation.known_project(),
        config=invocation.config,
        environ=invocation.environ,
    )

    folder = machine.state_dir(invocation.environ) / "web"

    def ready(found: RunningServer) -> None:
        if found.exposed:
            render.note(f"warning: {found.exposed}")
        else:
            render.note(_ONLY_HERE)
        render.note("log one browser in, within 10 minutes (Ctrl-C ends the server):")
        render.out(found.link)
        render.flush()
        if opens:
            page = serving.private_page(folder, found.link)
            # A browser that runs in this terminal ends only after it has seen the page.
            threading.Thread(target=_open, args=(page,), daemon=True).start()

    serving.serve(options, ready, folder)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 1 << 16:
        raise UsageError(f"`{text}` is no address", hints=("agentmux web --listen 127.0.0.1:8765",))
    return host.removeprefix("[").removesuffix("]"), int(port)


def _file(path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"`{path}` is not a file")
    return None if path is None else absolute(path)


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.as_uri()):
        render.note(f"no browser was found; open {page} in one")
