"""Builds the web application: its routes, and the handler of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agentmux.web.guard import PageAddress, RequestGuard
from agentmux.web.pages.comments import Comments
from agentmux.web.pages.forms import FLEET_FORMS, FORMS, Forms
from agentmux.web.pages.messages import Messages
from agentmux.web.pages.pages import HERE, WebPages, guard_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from agentmux.adapters.system.processes.command_runs import CommandRuns
    from agentmux.ports.fleet import Fleet
    from agentmux.web.events import Events
    from agentmux.web.pages.reading import ProjectSessions
    from agentmux.web.pages.screens import PageScreens
    from agentmux.web.sign_in import SignIn

_PARTS = ("screens", "documents", "diff", "why", "journal")


def application(  # noqa: PLR0913 (the parts that the server makes)
    sessions: ProjectSessions,
    *,
    place: PageAddress,
    sign_in: SignIn,
    commands: CommandRuns,
    secret: Callable[[], str],
    events: Events,
    screens: PageScreens,
    fleet: Fleet,
    static: Path = HERE / "static",
) -> ASGIApp:
    """Return the ASGI application of the web page, with `RequestGuard` in front of it.

    Args:
        sessions: Reads the sessions to show.
        place: The address at which browsers reach the page.
        sign_in: Knows which browsers are logged in.
        commands: Runs the commands of forms.
        secret: Returns a new random text that cannot be guessed.
        events: Tells browsers which sessions have changed.
        screens: Captures the screens of seats.
        fleet: Reads the fleet of this host, which may not be set up.
        static: The folder with the style sheet and the script.
    """
    session = "/sessions/{name}"
    messages, comments = Messages(secret), Comments(events.tell_from_thread)
    pages = WebPages(
        sessions,
        address=place,
        sign_in=sign_in,
        messages=messages,
        screens=screens,
        comments=comments,
        config=commands.config,
        fleet=fleet,
    )
    forms = Forms(
        sessions,
        pages,
        commands=commands,
        messages=messages,
        sign_in=sign_in,
        address=place,
        comments=comments,
        fleet=fleet,
    )
    shown = {
        "/": pages.sessions,
        "/start": pages.start,
        "/help": pages.help,
        "/fleet": pages.fleet,
        "/fleet/{feature}": pages.fleet_feature,
        session: pages.overview,
        **{f"{session}/{part}": getattr(pages, part) for part in _PARTS},
        session + "/documents/{path:path}": pages.document,
        "/api/sessions": pages.api_sessions,
        "/api" + session: pages.api_session,
        "/api" + session + "/screens": pages.api_screens,
    }
    routes = [
        Route("/login/{link}", pages.login, methods=["GET"]),
        Route("/login/{link}", forms.login, methods=["POST"]),
        Route("/start", forms.start, methods=["POST"]),
        Route("/link", forms.link, methods=["POST"]),
        Route("/logout", forms.logout, methods=["POST"]),
        Route(f"{session}/comment", forms.comment, methods=["POST"]),
        Route("/fleet/drain", forms.drain, methods=["POST"]),
        Route("/events", events.stream, methods=["GET"]),
        Route("/static/terminal.css", pages.styles, methods=["GET"]),
        Mount("/static", StaticFiles(directory=static)),
        *(Route(path, guard_page(pages, page), methods=["GET"]) for path, page in shown.items()),
        *(
            Route(f"/fleet/{{feature}}/{name}", forms.of_fleet(name), methods=["POST"])
            for name in FLEET_FORMS
        ),
        *(Route(f"{session}/{name}", forms.of_session(name), methods=["POST"]) for name in FORMS),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: pages.no_page})
    return RequestGuard(app, place=place, sign_in=sign_in, refused=pages.render_refusal)
