"""Handles the forms: each runs the command that a person would type, and shows its result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from starlette.responses import Response

from agentmux.core.codec.frozen import replace
from agentmux.core.conversation.launch_policy import policy_of
from agentmux.core.documents.diff_comments import LineComment
from agentmux.core.names.conversations import SeatChoice
from agentmux.core.terminal.keys.answer_keys import is_key
from agentmux.core.terminal.text import command_words
from agentmux.core.terminal.text.text_width import clean, printable
from agentmux.errors import AgentmuxError
from agentmux.web.pages.beginning import begin
from agentmux.web.pages.messages import DONE, CommandMessage, Messages
from agentmux.web.pages.pages import WebPages, no_fleet, redirect

if TYPE_CHECKING:
    from starlette.requests import Request

    from agentmux.adapters.system.processes.command_runs import CommandRuns
    from agentmux.core.terminal.text.command_words import Words
    from agentmux.ports.fleet import Fleet
    from agentmux.web.guard import PageAddress as Address
    from agentmux.web.pages.comments import Comments
    from agentmux.web.pages.reading import ProjectSessions, SessionRef
    from agentmux.web.sign_in import SignIn

Form = Mapping[str, str]
"""The fields of a form, by name."""
Typed = tuple["Words", str | None]
"""The arguments of a command, and the text for its standard input; None for no input."""

SEAT: Final = "seat:"
"""How the fields of a form begin that say how a resume starts a seat: ``CHOICE=DIGEST``."""
_WAIT_S: Final = "20"
_LATE: Final = 9
"""The exit code of a command that did not finish in the time given to it."""


def _approve(name: str, form: Form) -> Typed:
    way = form.get("way", "")
    way = way if way in {"keep", "merge", "push", "pr"} else ""
    return command_words.approve(name, form.get("digest", ""), way=way, wait_s=_WAIT_S), None


def _request_changes(name: str, form: Form) -> Typed:
    begins, digest = form.get("from", ""), form.get("digest", "")
    return command_words.request_changes(name, begins, digest), form.get("text", "")


def _answer(name: str, form: Form) -> Typed:
    """Return the command that answers an agent's question; typed text wins over a pressed key."""
    text, seat, digest = form.get("text", ""), form.get("seat", ""), form.get("digest", "")
    literal = len(text) > 1 and is_key(text)  # a text that is also the name of a key
    keys = (form.get("key", ""),) if not text else (text,) if literal else (text, "Enter")
    words = command_words.answer(name, seat, keys, digest, literal=literal, wait_s=_WAIT_S)
    return words, None


def _tell(name: str, form: Form) -> Typed:
    return command_words.tell(name, form.get("seat", ""), wait_s=_WAIT_S), form.get("text", "")


def _resume(name: str, form: Form) -> Typed:
    """Return the command that resumes a session as it was shown, with what was chosen for seats."""
    seats = {
        field.removeprefix(SEAT): value.partition("=")
        for field, value in form.items()
        if field.startswith(SEAT)
    }
    known = {each.value: each for each in SeatChoice}
    choices = {seat: known.get(each, SeatChoice.PLANNED) for seat, (each, _, _) in seats.items()}
    agreed = {seat: digest for seat, (_, _, digest) in seats.items()}
    return command_words.resume(name, policy_of(choices, agreed).options), None


def _reattach(name: str, _: Form) -> Typed:
    return command_words.reattach(name), None


def _restart(name: str, form: Form) -> Typed:
    return command_words.restart(name, form.get("seat", "")), None


def _skip(name: str, form: Form) -> Typed:
    return command_words.skip(name, form.get("seat", "")), None


def _stop(name: str, _: Form) -> Typed:
    return command_words.stop(name), None


def _unpark(name: str, _: Form) -> Typed:
    return command_words.unpark(name), None


FORMS: Final[Mapping[str, Callable[[str, Form], Typed]]] = {
    "approve": _approve,
    "request-changes": _request_changes,
    "answer": _answer,
    "tell": _tell,
    "resume": _resume,
    "reattach": _reattach,
    "restart": _restart,
    "skip": _skip,
    "stop": _stop,
    "unpark": _unpark,
}
"""Builds the command of each form of a session, by the last part of the form's URL.

A function takes the session's name and the form's fields.
"""

_OF_WHAT_WAS_SHOWN: Final = frozenset({"approve", "request-changes", "answer"})
"""The forms that must contain the digest of what the user was shown.

Without it, the command would apply to whatever is there by then.
"""


_HEADINGS: Final = {
    **dict.fromkeys(("request-changes", "answer", "tell"), "Sent"),
    **dict.fromkeys(("restart", "retry"), "Started"),
    "resume": "Resumed",
}
"""The word above what a form's command said, by the form; of the others it is `DONE`."""

_WITH_COMMENTS: Final = frozenset({"approve", "request-changes"})
"""The forms after which the comments on the diff are deleted: they were sent, or are obsolete."""


def _fleet_approve(feature: str, form: Form) -> Typed:
    return command_words.fleet_approve(feature, form.get("digest", "")), None


def _fleet_request_changes(feature: str, form: Form) -> Typed:
    begins, digest = form.get("from", ""), form.get("digest", "")
    words = command_words.fleet_request_changes(feature, begins, digest)
    return words, form.get("text", "")


def _fleet_retry(feature: str, _: Form) -> Typed:
    return command_words.fleet_retry(feature), None


def _fleet_cancel(feature: str, _: Form) -> Typed:
    return command_words.fleet_cancel(feature), None


FLEET_FORMS: Final[Mapping[str, Callable[[str, Form], Typed]]] = {
    "approve": _fleet_approve,
    "request-changes": _fleet_request_changes,
    "retry": _fleet_retry,
    "cancel": _fleet_cancel,
}
"""Builds the command of each form of a fleet feature, by the last part of the form's URL.

A function takes the feature's id and the form's fields.
"""


class Forms:
    """Handles the forms of one server; each method handles a POST request, or returns a handler.

    The guard has put the form's fields into ``request.state.form``.
    """

    def __init__(  # noqa: PLR0913 (the parts that the server makes)
        self,
        sessions: ProjectSessions,
        pages: WebPages,
        *,
        commands: CommandRuns,
        messages: Messages,
        sign_in: SignIn,
        address: Address,
        comments: Comments,
        fleet: Fleet,
    ) -> None:
        self._sessions = sessions
        self._pages = pages
        self._commands = commands
        self._messages = messages
        self._sign_in = sign_in
        self._address = address
        self._comments = comments
        self._fleet = fleet

    def of_session(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return a function that handles one form of any session, such as ``approve``.

        It runs the form's command, and leads back to the session's page with the result.

        Args:
            name: The last part of the form's URL, a key of `FORMS`.
        """

        async def answer_form(request: Request) -> Response:
            try:
                place = await self._place(request)
            except AgentmuxError as error:
                return self._pages.render_failure(request, error)
            form: Form = request.state.form
            if name in _OF_WHAT_WAS_SHOWN and not form.get("digest"):
                message = CommandMessage(is_ok=False, words="the form does not say what was shown")
            else:
                message = await self._run(name, place, form)
                if message.is_ok and name in _WITH_COMMENTS:
                    self._comments.drop(place.path)
            back = "/screens" if form.get("back") == "screens" else ""
            return redirect(place.href(back, said=self._messages.put(message)))

        return answer_form

    def of_fleet(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return a function that handles one form of fleet features, such as ``retry``.

        It runs the form's command, and leads back to the feature's page with the result.

        Args:
            name: The last part of the form's URL, a key of `FLEET_FORMS`.
        """

        async def answer_form(request: Request) -> Response:
            feature, form = request.path_params["feature"], request.state.form
            if not self._fleet.is_set_up():
                return self._pages.render_failure(request, no_fleet())
            if name in _OF_WHAT_WAS_SHOWN and not form.get("digest"):
                message = CommandMessage(is_ok=False, words="the form does not say what was shown")
            else:
                message = await self._run_in_fleet(*FLEET_FORMS[name](feature, form))
                message = replace(message, done=_HEADINGS.get(name, DONE))
            return redirect(f"/fleet/{quote(feature, safe='')}?said={self._messages.put(message)}")

        return answer_form

    async def drain(self, request: Request) -> Response:
        """Drain the fleet's host that the form names, so that it takes no more features.

        Whether that succeeds or not, the answer leads to the page of the fleet, which shows the
        message. If no fleet is set up, it is an error page.
        """
        if not self._fleet.is_set_up():
            return self._pages.render_failure(request, no_fleet())
        words = command_words.fleet_drain(request.state.form.get("host", ""))
        message = await self._run_in_fleet(words, None)
        return redirect(f"/fleet?said={self._messages.put(message)}")

    async def _run_in_fleet(self, words: Words, text: str | None) -> CommandMessage:
        reply = await self._commands.run(self._pages.any_project, words, text=text)
        await asyncio.to_thread(self._fleet.forget)
        return CommandMessage(is_ok=reply.is_ok, words=reply.words, hints=reply.hints)

    async def _place(self, request: Request) -> SessionRef:
        """Return the session that a form is about.

        Raises:
            NotFoundError: No session has this name, or several projects have one.
        """
        name, key = request.path_params["name"], request.query_params.get("in", "")
        return await asyncio.to_thread(self._sessions.find, name, key)

    async def start(self, request: Request) -> Response:
        """Start a session, and lead to its page; if it fails, show the form with its values.

        The form's fields are ``in``, which is the project's key, and those of `begin`.
        """
        form: Form = request.state.form
        key = form.get("in", "")
        try:
            offered = await asyncio.to_thread(self._pages.offer, key)
            name, message = await begin(self._commands, offered, form)
            if not name:
                return await asyncio.to_thread(self._pages.start_form, request, key, form, message)
        except (AgentmuxError, OSError) as error:
            return self._pages.render_failure(request, error)
        place = self._sessions.place(offered.project, name)
        return redirect(place.href(said=self._messages.put(message)))

    async def comment(self, request: Request) -> Response:
        """Store or remove a comment on a line of the diff, for a later request for changes.

        The path of the URL names the session. The form's fields are ``place`` (file and number of
        the line), ``line`` (its index in the diff), ``said`` (the line itself), ``text`` (the
        comment) and ``remove`` (not empty to remove the comment). The response leads to the diff.
        """
        try:
            place = await self._place(request)
        except AgentmuxError as error:
            return self._pages.render_failure(request, error)
        form: Form = request.state.form
        at, line = clean(form.get("place", "")), form.get("line", "")
        text = "" if form.get("remove") else form.get("text", "").strip()
        comment = LineComment(text=text, line=printable(form.get("said", "")))
        back = f"#l{line}" if line.isdecimal() else ""
        if at and self._comments.put(place.path, at, comment):
            return redirect(place.href("/diff") + back)
        why = "there are too many comments on this session" if at else "the form names no line"
        message = CommandMessage(is_ok=False, words=why)
        return redirect(place.href("/diff", said=self._messages.put(message)) + back)

    async def _run(self, name: str, place: SessionRef, form: Form) -> CommandMessage:
        words, text = FORMS[name](place.name, form)
        reply = await self._commands.run(place.project, words, text=text)
        if reply.code == _LATE:
            return CommandMessage(is_ok=True, is_late=True, words=reply.words)
        done = _HEADINGS.get(name, DONE)
        return CommandMessage(is_ok=reply.is_ok, words=reply.words, hints=reply.hints, done=done)

    async def login(self, request: Request) -> Response:
        """Use a login link, and log this browser in with a cookie.

        If the link cannot be used any more, the page says so, and nothing changes.
        """
        cookie = self._sign_in.use_link(request.path_params["link"])
        if cookie is None:
            return await asyncio.to_thread(self._pages.login, request)
        answer_ = redirect("/")
        answer_.set_cookie(
            self._address.cookie,
            cookie,
            max_age=30 * 86_400,
            path="/",
            secure=self._address.is_secure,
            httponly=True,
            samesite="lax",
        )
        return answer_

    async def link(self, request: Request) -> Response:
        """Create a login link for another browser, and show it."""
        address = f"{self._address.origin}/login/{self._sign_in.link()}"
        return self._pages.link(request, address)

    async def logout(self, request: Request) -> Response:
        """Log this browser out, and show that."""
        self._sign_in.log_out(request.state.cookies)
        return self._pages.render_logout(request)
