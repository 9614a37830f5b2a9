"""Renders the pages; each one in a thread.

Elements with the attribute ``data-live`` and an id are replaced by the page's script when they have
changed. Reading a page and deciding work without the script, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.system.python.installation import require_installed
from agentmux.app.delivery.approval.result_view import every_change
from agentmux.app.result import SessionProblem, envelope
from agentmux.app.session.search.lookup import SessionEntry, live, shown_path
from agentmux.app.views.explanation import explanation
from agentmux.app.views.outlook import Outlook, outlook
from agentmux.app.views.session.decision import with_digest
from agentmux.app.views.session.documents import REQUEST, document_title, documents
from agentmux.app.views.session.journal_rows import journal_rows
from agentmux.app.views.session.last_screens import LastScreen, last_screens
from agentmux.app.views.session.seat_screens import with_screens
from agentmux.app.views.session_words import also_where, failed_commands, label, next_step
from agentmux.app.views.status import look
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.times import time_of
from agentmux.core.decisions.seat_needs import (
    list_messageable_seats,
    list_restartable_seats,
    list_skippable_seats,
)
from agentmux.core.documents.diff_comments import change_request, diff_places
from agentmux.core.documents.diff_files import diff_files
from agentmux.core.fleet.board import COLOURS, DRAINING, host_words
from agentmux.core.names.conversations import (
    how_it_comes_back,
    needs_reason,
    which_conversation,
)
from agentmux.core.names.status_labels import (
    GROUP_HELP,
    STATUS_TABLE,
    Colour,
    SessionStatus,
    age,
    status_colour,
)
from agentmux.core.names.statuses import DONE, FAILED, PARKED, WAITING
from agentmux.core.names.version import VERSION
from agentmux.core.names.words.located_commands import locate_messages
from agentmux.core.terminal.keys.key_commands import TABS, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.text.text_width import clean, printable
from agentmux.core.terminal.text.visible_text import visible
from agentmux.errors import AgentmuxError, ExitCode, NotFoundError, data_error_from
from agentmux.overriding import override
from agentmux.web.pages import markup
from agentmux.web.pages.beginning import offer
from agentmux.web.pages.overview import (
    MARK_COLOURS,
    decision,
    delivery_lines,
    phases,
    summary,
    worked_last,
)
from agentmux.wiring import machine

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.requests import Request

    from agentmux.app.commands.begin.start_offer import StartOffer
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.core.terminal.keys.key_table import KeyLine
    from agentmux.ports.fleet import Fleet
    from agentmux.web.guard import PageAddress as Address
    from agentmux.web.pages.comments import Comments
    from agentmux.web.pages.messages import CommandMessage, Messages
    from agentmux.web.pages.reading import ProjectSessions, SessionRef
    from agentmux.web.pages.screens import PageScreens
    from agentmux.web.sign_in import SignIn

HERE: Final = Path(__file__).parent.parent
"""The folder that contains the folders ``templates`` and ``static``."""
TEXT_MAX: Final = 1 << 20
"""The most bytes of a document that is shown."""
_EVENTS: Final = 400
_DIFF_LINES: Final = 20_000
_DIGITS: Final = 9
_WITHOUT_FLEET: Final = KEYS.without(KeyCommand.FLEET, KeyCommand.DRAIN)

ANSWERS: Final = (
    ("Enter", "Enter"),
    ("Escape", "Esc"),
    ("Up", "↑"),
    ("Down", "↓"),
    ("Tab", "Tab"),
    ("1", "1"),
    ("2", "2"),
    ("3", "3"),
    ("y", "y"),
    ("n", "n"),
)
"""The keys with which a button can answer an agent's question, each with the button's label."""


def templates(has_fleet: Callable[[], bool] = lambda: True) -> Environment:
    """Return the Jinja environment of the HTML templates.

    Values are escaped unless they are `Markup`. All templates are loaded at once, because their
    files may be gone later. A page lists the keys of the fleet only if ``has_fleet`` returns True.
    """

    def page_keys() -> tuple[KeyLine, ...]:
        return (KEYS if has_fleet() else _WITHOUT_FLEET).lines_at(KeyPlace.PAGE)

    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(
        age=age,
        answers=ANSWERS,
        colour=lambda status: status_colour(status).value,
        diff_class=markup.diff_class,
        document_title=document_title,
        file_says=markup.file_says,
        repeats_heading=markup.repeats_heading,
        page_keys=page_keys,
        pressed_by=markup.key_attributes,
        shown_name=clean,
        screen=lambda shown: markup.screen(shown.ansi, shown.cols, shown.rows),
        tabs=TABS,
        parked=PARKED,
        version=VERSION,
        mark_colours=MARK_COLOURS,
        fleet_colour=lambda status: COLOURS.get(status, Colour.NONE).value,
        host_words=host_words,
        located=machine.locate,
        draining=DRAINING,
        which_conversation=which_conversation,
        comes_back=how_it_comes_back,
        needs_reason=needs_reason,
    )
    for name in environment.list_templates():  # their files may be gone later
        environment.get_template(name)
    return environment


class WebPages:
    """Renders the pages of one server; most methods handle a GET request.

    Those return a page, or JSON for a script. The path of the URL names the session, the document
    or the feature. An error that they raise becomes an error page only through `guard_page`.
    """

    def __init__(  # noqa: PLR0913 (the parts that the server makes)
        self,
        sessions: ProjectSessions,
        *,
        address: Address,
        sign_in: SignIn,
        messages: Messages,
        screens: PageScreens,
        comments: Comments,
        config: Path | None,
        fleet: Fleet,
    ) -> None:
        self._sessions = sessions
        self._address = address
        self._sign_in = sign_in
        self._messages = messages
        self._screens = screens
        self._comments = comments
        self._config = config
        self._fleet = fleet
        self._templates = templates(fleet.is_set_up)

    # -- answers -------------------------------------------------------------------------------

    def _render_page(
        self,
        request: Request,
        template: str,
        status: int = HTTPStatus.OK,
        /,
        **values: object,
    ) -> Response:
        visit = getattr(request.state, "visit", None)
        values = {"said": self._messages.get(request.query_params.get("said", "")), **values}
        text = self._templates.get_template(template).render(
            token=visit.token if visit is not None else "",
            signed_in=visit is not None,
            read_only=self._address.read_only,
            path=request.scope["path"],
            **values,
        )
        return HTMLResponse(visible(text), status)

    def render_refusal(self, request: Request, status: HTTPStatus, words: str) -> Response:
        """Return the response to a request that the guard refused for the reason ``words``.

        Below ``/api/`` it is JSON, elsewhere a page.
        """
        if request.scope["path"].startswith("/api/"):
            return api_error(status, words)
        origin = self._address.origin
        return self._render_page(
            request, "refused.html", status, words=words, code=int(status), origin=origin
        )

    def no_page(self, request: Request, error: Exception) -> Response:
        """Return the response to a request that no page handles.

        Its status is ``status_code`` of ``error``, as an ``HTTPException`` has it; without, 404.
        """
        status = HTTPStatus(getattr(error, "status_code", HTTPStatus.NOT_FOUND))
        return self.render_refusal(
            request, status, f"there is no such page ({status.phrase.lower()})"
        )

    def render_failure(self, request: Request, error: AgentmuxError | OSError) -> Response:
        """Return the response for an error: status 404 if something was not found, else 500.

        Below ``/api/`` it is JSON, elsewhere a page.
        """
        known = data_error_from(error) if isinstance(error, OSError) else error
        status = HTTPStatus.NOT_FOUND
        if not isinstance(error, NotFoundError):
            status = HTTPStatus.INTERNAL_SERVER_ERROR
        place = getattr(request.state, "place", None)
        locate = partial(machine.locate, project=place and place.project)
        words, hints = locate(known.message), tuple(map(locate, known.hints))
        if request.scope["path"].startswith("/api/"):
            return api_error(status, words, hints)
        return self._render_page(request, "failed.html", status, words=words, hints=hints)

    # -- logging in ----------------------------------------------------------------------------

    def login(self, request: Request) -> Response:
        """Show the button that uses a login link.

        The path of the URL ends with the link's secret. Opening the link does not log in, because
        programs that show a preview open links, too. If the link is not usable any more, the page
        says so, with status 410.
        """
        link = request.path_params["link"]
        is_open = self._sign_in.is_open(link)
        status = HTTPStatus.OK if is_open else HTTPStatus.GONE
        return self._render_page(request, "login.html", status, is_open=is_open)

    def link(self, request: Request, address: str) -> Response:
        """Show a login link that was just created; ``address`` is its whole URL."""
        return self._render_page(request, "link.html", address=address)

    def render_logout(self, request: Request) -> Response:
        """Show that the browser is logged out; does not log it out."""
        request.state.visit = None
        return self._render_page(request, "left.html")

    # -- sessions ------------------------------------------------------------------------------

    def sessions(self, request: Request) -> Response:
        """Show the list of the sessions of all projects.

        Of the URL's query, ``q`` is a text to search for; with ``all``, no session is left out.
        """
        sought = request.query_params.get("q", "")
        everything = "all" in request.query_params
        listing = self._sessions.read_list(sought=sought, everything=everything)
        return self._render_page(
            request, "sessions.html", found=listing, sought=sought, fleet=self._fleet.is_set_up()
        )

    def start(self, request: Request) -> Response:
        """Show the form that starts a session, or first the choice of a project.

        The parameter ``in`` of the URL's query is the project's key. A read-only page refuses.
        """
        if self._address.read_only:
            return self.render_refusal(request, HTTPStatus.FORBIDDEN, "this page is read-only")
        return self.start_form(request, request.query_params.get("in", ""), {})

    def start_form(
        self,
        request: Request,
        key: str,
        form: Mapping[str, str],
        said: CommandMessage | None = None,
    ) -> Response:
        """Show the form that starts a session, filled in with the fields ``form``.

        Args:
            request: The request.
            key: The project's key; empty to let the user choose, if there are several projects.
            form: The values to fill in, as the browser sent them before: ``agent``, ``pipeline``,
                ``place``, ``issue`` and ``text``; empty for a new form.
            said: Why the session was not started; None if no start was tried.

        Raises:
            NotFoundError: No project has this key.
            ConfigError: The project's configuration is invalid.
        """
        known = self._sessions.projects()
        key = next(iter(known)) if not key and len(known) == 1 else key
        return self._render_page(
            request,
            "start.html",
            key=key,
            projects=tuple(known.items()),
            offered=self.offer(key) if key else None,
            form=form,
            said=said,
        )

    def offer(self, key: str) -> StartOffer:
        """Return the choices for a new session in a project; ``key`` is its key in URLs.

        Raises:
            NotFoundError: No project has this key.
            ConfigError: The project's configuration is invalid.
        """
        project = self._sessions.projects().get(key)
        if project is None:
            raise NotFoundError("there is no such project")
        return offer(self._sessions.own_world(project), self._config)

    def help(self, request: Request) -> Response:
        """Show what the words and buttons mean, and below it the keys."""
        return self._render_page(request, "help.html", groups=tuple(_help_on_groups()))

    def _place(self, request: Request) -> SessionRef:
        name, key = request.path_params["name"], request.query_params.get("in", "")
        request.state.place = place = self._sessions.find(name, key)
        return place

    def _of_session(
        self,
        request: Request,
        tab: str,
        place: SessionRef,
        known: tuple[SessionEntry, SessionView] | None = None,
        **values: object,
    ) -> Response:
        entry, view = known or self._sessions.view(place)
        return self._render_page(
            request,
            f"{tab}.html",
            HTTPStatus.OK,
            tab=tab,
            place=place,
            entry=entry,
            view=view,
            label=label(view),
            where=also_where(view, ""),
            **values,
        )

    def overview(self, request: Request) -> Response:
        """Show what a session needs from its user, and below it its phases, seats and places.

        That is the question of an agent, the last lines of what failed, the pending decision, or
        the plan of a resume; else the screen of the agent that worked last. The path of the URL
        names the session.
        """
        place = self._place(request)
        entry, view = self._sessions.view(place)
        loaded = self._sessions.load_session(place) if entry.problem is None else None
        driven = loaded.state if loaded is not None and _is_driven(view) else None
        again = list_restartable_seats(driven) if driven is not None else ()
        lost = str((view.interruption or {}).get("seat")) if view.status == FAILED else ""
        asking = [seat for seat in view.seats if seat.status == WAITING]
        failing = [seat for seat in view.seats if seat.seat in {*again, lost}]
        needs = bool(asking or failing or view.decision or driven is None)
        worked = None if needs else worked_last(view.seats)
        seats = (*asking, *failing, *((worked,) if worked is not None else ()))
        screens = self._screens.of(place, [seat.seat for seat in seats])
        told = phases(loaded, view, place.site.now()) if loaded is not None else ()
        return self._of_session(
            request,
            "overview",
            place,
            known=(entry, view),
            phases=tuple(told),
            questions=tuple((seat, screens[seat.seat]) for seat in asking if seat.seat in screens),
            failures=tuple((seat, screens.get(seat.seat)) for seat in failing),
            worked=screens.get(worked.seat) if worked is not None else None,
            plan=self._plan(place, entry) if _rests(entry, view) else None,
            failed=failed_commands(view) if view.decision else {},
            decision=decision(loaded) if loaded is not None and view.decision else None,
            summary=summary(loaded) if loaded is not None and entry.is_done else "",
            delivered=delivery_lines(loaded) if loaded is not None and entry.phase == DONE else (),
            next_step=next_step(view),
            told=list_messageable_seats(driven) if driven is not None else (),
            restarted=again,
            skipped=list_skippable_seats(driven) if driven is not None else (),
            changes=change_request(self._comments.of(place.path)),
        )

    def _plan(self, place: SessionRef, entry: SessionEntry) -> Outlook:
        """Return what a resume from the page, which no person attends, would do."""
        liveness = live(place.site, (entry,))[entry.path]
        world = self._sessions.world(place.project)
        return outlook(world, entry, liveness, read_limited, is_attended=False)

    def screens(self, request: Request) -> Response:
        """Show the screens of a session's seats: the current ones if it is live, else the last.

        Without seats, they are the last ones of the agents that have worked before.

        The path of the URL names the session.
        """
        place = self._place(request)
        entry, view = self._sessions.view(place)
        seats = tuple(seat.seat for seat in view.seats)
        panes = self._screens.of(place, seats)
        if not panes:
            seats, panes = _last_screens(entry)
        asking = frozenset(seat.seat for seat in view.seats if seat.status == WAITING)
        now = place.site.now()
        return self._of_session(
            request,
            "screens",
            place,
            known=(entry, view),
            screens=tuple((panes[seat], _ago(panes[seat], now)) for seat in seats if seat in panes),
            asking=asking,
            told=list_messageable_seats(self._sessions.state(place)) if _is_driven(view) else (),
            are_last=bool(panes) and not view.seats,
        )

    def documents(self, request: Request) -> Response:
        """Show the list of a session's documents, first the request.

        The path of the URL names the session.
        """
        place = self._place(request)
        names = sorted(documents(place.path), key=lambda name: name != REQUEST)
        return self._of_session(request, "documents", place, names=names)

    def document(self, request: Request) -> Response:
        """Show one document of a session; Markdown is rendered, other text is shown as it is.

        The path of the URL names the session and the document.

        Raises:
            NotFoundError: There is no such session, or it has no such document.
        """
        place, name = self._place(request), request.path_params["path"]
        if name not in documents(place.path):
            raise NotFoundError(f"session {place.name} has no document `{name}`")
        data = read_limited(place.path / name, TEXT_MAX)
        text = None if data is None else data.decode("utf-8", "replace")
        rendered = markup.markdown(text) if text is not None and name.endswith(".md") else None
        return self._of_session(request, "document", place, name=name, text=text, rendered=rendered)

    def diff(self, request: Request) -> Response:
        """Show the diff of all changes of a session, with comments; cut after 20,000 lines.

        The path of the URL names the session. Runs git, so it may block.
        """
        place = self._place(request)
        loaded = self._sessions.load_session(place)
        lines = every_change(loaded.world, loaded.files, loaded.state)
        places = tuple(diff_places(lines))
        entry, view = self._sessions.view(place)
        at = request.query_params.get("at", "")
        return self._of_session(
            request,
            "diff",
            place,
            known=(entry, view),
            lines=list(diff_lines(lines[:_DIFF_LINES])),
            files={each.at: each for each in diff_files(lines, places) if each.at < _DIFF_LINES},
            left=max(0, len(lines) - _DIFF_LINES),
            comments=self._comments.of(place.path),
            commentable=not entry.is_done and not self._address.read_only,
            at=int(at) if at.isdecimal() and len(at) < _DIGITS else -1,
        )

    def why(self, request: Request) -> Response:
        """Show why a session has its status, and what a resume would do.

        The path of the URL names the session.
        """
        place = self._place(request)
        entry = place.entry()
        if entry.problem is not None:
            lines = [entry.problem.message, *entry.problem.hints]
        else:
            world = self._sessions.world(place.project)
            lines = explanation(world, place.site, entry, explain=True)
        return self._of_session(request, "why", place, lines=lines)

    def journal(self, request: Request) -> Response:
        """Show the newest 400 events of a session's journal, newest first.

        The path of the URL names the session.
        """
        place = self._place(request)
        events = [event for event, _ in place.site.files(place.path).tail(0)]
        return self._of_session(
            request,
            "journal",
            place,
            events=tuple(journal_rows(events[-_EVENTS:], place.site.now())),
            older=max(0, len(events) - _EVENTS),
        )

    # -- the fleet -----------------------------------------------------------------------------

    @property
    def any_project(self) -> Path:
        """A folder in which to run commands that need no project: any project, else the home."""
        return next(iter(self._sessions.projects().values()), Path.home())

    def fleet(self, request: Request) -> Response:
        """Show the hosts of the fleet, and its features in groups.

        Raises:
            NotFoundError: No fleet is set up on this host.
        """
        self._require_fleet()
        try:
            board = self._fleet.board()
        except AgentmuxError as error:
            return self._no_answer(request, "fleet", error)
        return self._render_page(request, "fleet.html", board=board)

    def fleet_feature(self, request: Request) -> Response:
        """Show a feature of the fleet, and the pending decision on it.

        The path of the URL has the feature's id.

        Raises:
            NotFoundError: No fleet is set up on this host.
        """
        self._require_fleet()
        try:
            asked = self._fleet.question(request.path_params["feature"])
        except AgentmuxError as error:
            return self._no_answer(request, "feature", error)
        return self._render_page(request, "fleet_feature.html", asked=asked)

    def _no_answer(self, request: Request, part: str, problem: AgentmuxError) -> Response:
        """Show an error of the fleet, in the element of the page that the script keeps current."""
        is_missing = isinstance(problem, NotFoundError)
        status = HTTPStatus.NOT_FOUND if is_missing else HTTPStatus.SERVICE_UNAVAILABLE
        return self._render_page(request, "fleet_away.html", status, part=part, problem=problem)

    def _require_fleet(self) -> None:
        if not self._fleet.is_set_up():
            raise no_fleet()

    # -- JSON --------------------------------------------------------------------------------

    def api_sessions(self, _: Request) -> Response:
        """Return the sessions of all projects, in the form of the output of ``list --json``."""
        listing = self._sessions.read_list(everything=True)
        rows = (each for group in listing.groups for each in group.shown)
        views = (_locate(each.view.as_json(), each.session) for each in rows)
        return AsciiResponse(envelope(views, listing.problems))

    def api_session(self, request: Request) -> Response:
        """Return a session in the form of the output of ``status SESSION --json``.

        The path of the URL names the session.
        """
        place = self._place(request)
        entry = place.entry()
        result = look(place.site, (entry,))
        (view,) = result.data
        view = with_digest(lambda: self._sessions.world(place.project), place.path, view)
        fields = with_screens(entry, view, read_limited).as_json()
        return AsciiResponse(_locate(envelope([fields], result.problems), place))

    def api_screens(self, request: Request) -> Response:
        """Return a session's screens in the form of the output of ``show SESSION --json``.

        They are the last saved ones. The path of the URL names the session.
        """
        place = self._place(request)
        screens = last_screens(place.entry(), read_limited)
        fields = {
            "session": place.name,
            "path": shown_path(place.path, place.project),
            "screens": [screen.as_json() for screen in screens.screens],
            "warnings": list(screens.warnings),
        }
        return AsciiResponse(_locate(envelope([fields], ()), place))

    def styles(self, _: Request) -> Response:
        """Return the style sheet with the classes for terminal colours."""
        return Response(
            markup.colour_rules(),
            media_type="text/css",
            headers={"cache-control": "max-age=3600"},
        )


class AsciiResponse(JSONResponse):
    """A JSON response in ASCII, as the commands write it, since UTF-8 cannot encode surrogates.

    Texts may contain surrogates, which stand for bytes that are no UTF-8.
    """

    @override
    def render(self, content: object) -> bytes:
        """Return the content as JSON in ASCII."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def guard_page(
    pages: WebPages, page: Callable[[Request], Response]
) -> Callable[[Request], Response]:
    """Return a handler that calls ``page``, and returns an error page if that fails.

    The handler catches `AgentmuxError` and `OSError`; it raises other errors. If AgentMux was
    updated or removed meanwhile, it returns an error page without calling ``page``.

    Args:
        pages: Render the error page.
        page: Returns the response to a request.
    """

    def answer_page(request: Request) -> Response:
        try:
            require_installed(way_on="start the page again: agentmux web")
            return page(request)
        except (AgentmuxError, OSError) as error:
            return pages.render_failure(request, error)

    return answer_page


def _locate(answer: object, place: SessionRef) -> object:
    """Return the JSON with the commands in its messages changed to work in any directory."""
    return locate_messages(answer, partial(machine.locate, project=place.project))


def api_error(status: HTTPStatus, message: str, hints: tuple[str, ...] = ()) -> Response:
    """Return a response with an error in the form of the commands' JSON output.

    Args:
        status: The status of the response.
        message: What went wrong, in words.
        hints: Commands or advice on what to do next.
    """
    problem = SessionProblem(session="", code=ExitCode.FAILED, message=message, hints=hints)
    return AsciiResponse(envelope((), (problem,)), status)


def no_fleet() -> NotFoundError:
    """Return, and do not raise, the error for a fleet page on a host without a fleet.

    It does not check whether a fleet is set up.
    """
    return NotFoundError("the fleet is not set up here", hints=("agentmux fleet init",))


def redirect(address: str) -> Response:
    """Return a response that makes the browser load the page at ``address`` after a form."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


def _last_screens(entry: SessionEntry) -> tuple[tuple[str, ...], Mapping[str, LastScreen]]:
    """Return the seats whose last screens were saved, and these screens by seat."""
    try:
        screens = {each.seat: each for each in last_screens(entry, read_limited).screens}
    except NotFoundError:
        screens = {}
    return tuple(screens), screens


def _is_driven(view: SessionView) -> bool:
    return view.orchestrator is not None and view.status != SessionStatus.UNREADABLE


def _rests(entry: SessionEntry, view: SessionView) -> bool:
    """Whether the session is unfinished, and neither runs nor is about to."""
    is_readable = entry.problem is None and not entry.is_done
    return is_readable and not view.live and view.status != SessionStatus.STARTING


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpLine:
    """A heading of the list of sessions, for the page of help.

    Attributes:
        name: The heading.
        says: What it means.
        labels: The words beside the sessions below it.
    """

    name: str
    says: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of a diff.

    Attributes:
        index: The line's number in the diff, from 0.
        place: The line's file and number, such as ``calc.py:12`` or ``calc.py:9 (removed)``; empty
            if it belongs to no file.
        text: The line without control characters.
    """

    index: int
    place: str
    text: str

    @property
    def number(self) -> str:
        """The line's number in the file, for a removed line in the old file.

        Empty if the line belongs to no file.
        """
        return self.place.rpartition(":")[2].partition(" ")[0]


def diff_lines(lines: Sequence[str]) -> Iterator[DiffLine]:
    """Yield the lines of a git diff as `DiffLine`, with the place of each."""
    for index, (place, text) in enumerate(zip(diff_places(lines), lines, strict=True)):
        yield DiffLine(index=index, place=clean(place), text=printable(text.expandtabs(4)))


def _help_on_groups() -> Iterator[HelpLine]:
    for group, says in GROUP_HELP.items():
        rows = (row for row in STATUS_TABLE.values() if row.group is group)
        labels = tuple(row.label for row in rows if row.label != group.value)
        yield HelpLine(name=group.value, says=says, labels=labels)


def _ago(screen: LastScreen, now: datetime) -> str:
    at = time_of(screen.captured_at)
    return "now" if at is None else f"{age(max(0.0, (now - at).total_seconds()))} ago"
