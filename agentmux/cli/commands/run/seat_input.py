"""``tell`` and ``answer``: give a person's text or keys to an agent that runs.

The orchestrator types them into the agent's pane; the command prints the result that it records.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.adapters.disk import files
from agentmux.adapters.wake.pipe import poke
from agentmux.app.commands.resume.live_seat import only_seat
from agentmux.app.commands.talk.seat_input import (
    RecordedInput,
    record_input,
    require_message,
    wait_ended,
)
from agentmux.app.result import SCHEMA
from agentmux.app.session.search.lookup import (
    SessionEntry,
    live,
    require_no_copy,
    select_session,
)
from agentmux.app.views.session.last_screens import heading
from agentmux.app.views.session.seat_screens import asking_seats, present_screen
from agentmux.cli import render
from agentmux.cli.ask.agent_choice import asking
from agentmux.cli.ask.person import agrees, require_person
from agentmux.cli.ask.session_argument import resolve_world, unfinished_sessions
from agentmux.cli.ask.shared_options import JsonOpt, SessionArg
from agentmux.cli.commands.look.sessions import require_seconds
from agentmux.cli.commands.look.show import screen_rows
from agentmux.cli.commands.run.start import read_text
from agentmux.cli.invocation import Invocation, monotonic
from agentmux.core.documents.review import seat_named
from agentmux.core.journal.events import InputEnded, SeatAnswered, SeatTold
from agentmux.core.terminal.keys.answer_keys import is_key, only_moves, read_keys, shown_keys
from agentmux.errors import AgentmuxError, BlockedError, DeclinedError, ExitCode, UsageError
from agentmux.ports.tmux.terminal import DeliveryResult

if TYPE_CHECKING:
    from agentmux.app.world import World

SeatOpt = Annotated[
    str,
    typer.Option(
        "--role", metavar="SEAT", help="The seat of the agent, such as coder-2; or the only one."
    ),
]
TimeoutOpt = Annotated[
    float,
    typer.Option("--timeout", min=0, metavar="S", help="Wait S seconds for the result (exit 9)."),
]
_ARRIVED: Final[Mapping[str, str]] = {
    DeliveryResult.SUBMITTED: "{seat} has it",
    DeliveryResult.QUEUED: "{seat} has it, and reads it after its present work",
    DeliveryResult.SENT: "pressed {keys}; {evidence}",
}
_REFUSED: Final[Mapping[str, str]] = {
    DeliveryResult.REFUSED_DIALOG: "it asks a question",
    DeliveryResult.REFUSED_DRAFT: "there is a draft in its input field",
    DeliveryResult.REFUSED_COMMAND: "the message begins like a command to the agent",
    DeliveryResult.SCREEN_CHANGED: "its screen has changed",
    DeliveryResult.PANE_GONE: "its agent has ended",
}
"""Why a text or keys did not reach the agent."""


def tell(
    ctx: typer.Context,
    session: SessionArg = None,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text, @FILE, or - for stdin.", show_default=False),
    ] = None,
    role: SeatOpt = "",
    timeout: TimeoutOpt = 60.0,
    json: JsonOpt = False,
) -> int:
    """Tell a running agent something, as if you typed it into its input field.

    The command ends when it is proven that the agent has the text. A busy agent reads it after its
    present work. Nothing is typed while the agent asks a question (see `answer`), or while a draft
    is in its input field. Without a session, the only live one is meant; without a seat, the only
    agent that runs.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "tell")
    command = 'tell SESSION --role SEAT "…"'
    if text is None:
        session, text = None, session  # the only word is the text
    if text is None:
        raise UsageError("tell it what?", hints=(f"agentmux {command}",))
    require_seconds(timeout)
    message = require_message(read_text(text, what="what to tell it"))
    world, entry, seat = _agent(invocation, session, role, command=command)
    record = record_input(world, entry, seat, SeatTold(text=message), poke=lambda: poke(entry.path))
    return _end(world, entry, record, keys=(), timeout_s=timeout, json=json)


def answer(
    ctx: typer.Context,
    session: SessionArg = None,
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEYS",
            help="Such as Enter, Down, Escape, Tab, y, 2, C-c, or a text.",
            show_default=False,
        ),
    ] = None,
    role: SeatOpt = "",
    screen: Annotated[
        str,
        typer.Option(
            "--screen",
            metavar="DIGEST",
            help="The screen that you answer, as `show` names it. Another one gets no keys.",
        ),
    ] = "",
    literal: Annotated[
        bool, typer.Option("--literal", "-l", help="Type KEYS as they are; none names a key.")
    ] = False,
    timeout: TimeoutOpt = 60.0,
    json: JsonOpt = False,
) -> int:
    """Press keys for a question that an agent asks.

    In a terminal, the command shows the agent's screen and asks which keys to press; keys that are
    given are pressed after a yes. A script names the screen. They are pressed once, and only while
    the agent shows that screen. Without a session, the only live one is meant; without a seat, the
    only agent that asks or runs. A first word that is a key is no session.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "answer")
    command = "answer SESSION --role SEAT KEYS --screen DIGEST"
    require_seconds(timeout)
    if session is not None and (is_key(session) or (screen and not keys)):
        keys, session = [session, *(keys or ())], None
    if not screen and (json or not invocation.interactive):
        resolve_world(invocation, session, command=command)  # hints name only sessions that exist
        given = (*([session] if session else ()), *(("--role", role) if role else ()))
        show = " ".join(("agentmux show", *given))
        raise UsageError(
            "missing option --screen DIGEST", hints=(f"see screen and digest: {show}",)
        )
    pressed = read_keys(keys or (), literal=literal) if keys or screen else ()
    world, entry, seat = _agent(invocation, session, role, command=command, answers=True)
    if not screen:
        screen, pressed = _ask(invocation, world, entry, seat, pressed)
    fact = SeatAnswered(keys=pressed, screen=screen)
    record = record_input(world, entry, seat, fact, poke=lambda: poke(entry.path))
    return _end(world, entry, record, keys=pressed, timeout_s=timeout, json=json)


def _ask(
    invocation: Invocation, world: World, entry: SessionEntry, seat: str, keys: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Show an agent's screen to a person, and ask which keys to press.

    Args:
        invocation: The global options.
        world: The session's project, with its settings and tools.
        entry: The session.
        seat: The agent's seat.
        keys: The keys that the person has named already, as `read_keys` returns them.

    Returns:
        The digest of the screen, and the keys.

    Raises:
        NotFoundError: The agent has no pane.
        TerminalError: The tmux server does not answer.
        DeclinedError: The person wants to press nothing.
    """
    shown = present_screen(world, entry, seat, files.read_limited)
    render.out(f"session {entry.name}, {heading(shown, world.now())}")
    render.screen(screen_rows(invocation, shown, plain=False))
    render.out(f"== end of the screen of {seat} ==")
    if keys:
        if not agrees(f"Press {shown_keys(keys)}?"):
            raise DeclinedError
        return shown.digest, keys
    ask = asking()
    while True:
        try:
            words = shlex.split(ask(_WHICH))
            if not words:
                raise DeclinedError
            return shown.digest, read_keys(words)
        except (UsageError, ValueError) as error:  # an open quotation is a ValueError
            for line in (str(error), *getattr(error, "hints", ())):
                render.note(line)


_WHICH: Final = (
    "Which keys answer it? For example: 2 Enter, y, Down Enter, or a text in quotes.\n"
    "Keys (Enter alone presses nothing): "
)


def _agent(
    invocation: Invocation, name: str | None, role: str, *, command: str, answers: bool = False
) -> tuple[World, SessionEntry, str]:
    """Return the world of the session's project, the session, and the name of the seat.

    Args:
        invocation: The global options.
        name: The session's name; None means the only live one.
        role: The seat; empty means the only agent that runs.
        command: The command that hints show, with ``SESSION`` in place of the name.
        answers: Whether the only agent that asks something is meant before the only one that runs.

    Raises:
        UsageError: No seat is named, and several agents run.
        NotFoundError: No session matches, or several do.
        BlockedError: The session's directory is a copy of a live session.
    """
    world, entry = resolve_world(invocation, name, command=command)
    if entry is None:
        entries = unfinished_sessions(world, command=command)
        lives = live(world, entries)
        running = [each for each in entries if lives[each.path].locked]
        entry = select_session(running or entries, command=command)
    require_no_copy(world, entry)
    if role:
        return world, entry, seat_named(role)
    waiting = asking_seats(world, entry) if answers else frozenset[str]()
    if len(waiting) == 1:
        return world, entry, next(iter(waiting))
    return world, entry, only_seat(world.files(entry.path), entry.name)


def _end(
    world: World,
    entry: SessionEntry,
    given: RecordedInput,
    *,
    keys: tuple[str, ...],
    timeout_s: float,
    json: bool,
) -> int:
    """Wait for the result, print it, and return the exit code."""
    ended = wait_ended(world, entry, given, timeout_s=timeout_s, monotonic=monotonic)
    if json:
        render.as_json(
            {
                "schema": SCHEMA,
                "result": ended.result,
                "event_id": given.id,
                "seat": given.seat,
                "reason": ended.evidence,
            }
        )
    template = _ARRIVED.get(ended.result)
    if template is None:
        return render.error(_error(entry, given, ended))
    if not json:
        moved = f"{ended.evidence}{'; only the mark was moved: Enter confirms' * only_moves(keys)}"
        words = template.format(seat=given.seat, keys=shown_keys(keys), evidence=moved)
        render.out(f"session {entry.name}: {words}")
    return ExitCode.OK


def _error(entry: SessionEntry, given: RecordedInput, ended: InputEnded) -> AgentmuxError:
    who = f"`{given.seat}` of session {entry.name}"
    look = (f"look at it: agentmux show {entry.name} --role {given.seat}",)
    why = _REFUSED.get(ended.result)
    if ended.result == DeliveryResult.REFUSED_COMMAND:
        look = ("begin the message with a word",)
    if why is not None:
        typed = ended.evidence.rpartition("; ")[2]
        return BlockedError(f"{who}: {why}; {typed}", reason=str(ended.result), hints=look)
    return AgentmuxError(f"{who}: it is not proven that it arrived: {ended.evidence}", hints=look)
