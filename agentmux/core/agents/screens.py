"""Recognise what an agent's screen shows, with the patterns of its registry entry."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.names import statuses

LAST_ROWS: Final = 25
"""How many non-empty rows at the end of a screen are searched for patterns.

They contain the agent's input field, its progress indicator and its dialogs.
"""

_SAID_MAX: Final = 160
"""The longest text, in characters, that is taken from an agent's screen; longer ones are cut."""

_BORDERS: Final = "│┃║"
"""The borders of boxes that agents draw around messages."""

_FRAME: Final = f"{_BORDERS}─━═╭╮╰╯┌┐└┘ \t"

_LAST_WORDS: Final = 8
"""How many non-empty rows at the end of a screen are searched for a rejection.

They contain the error and its hints; copilot prints six rows.
"""


_LOGGED_IN: Final = re.compile(
    r"(?i)\b(?:log ?in successful|successfully logged in|logged in as)\b"
)


class ScreenState(StrEnum):
    """The state of an agent, as recognised from its screen.

    *trust*: a first-run dialog (trust, login, terms). *limit*: a usage limit. *waiting*: the agent
    asks its user something. *busy*: it works. *ready*: its input field waits for input. *unknown*:
    no pattern matches.
    """

    TRUST = "trust"
    LIMIT = "limit"
    WAITING = "waiting"
    BUSY = "busy"
    READY = "ready"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenReading:
    """What was recognised on one screen of an agent.

    Attributes:
        mark: The state of the agent.
        resets: When the usage limit ends, as the agent writes it; empty if the screen does not say
            or if ``mark`` is not `ScreenState.LIMIT`.
        trouble: The text of the last error of the agent's service on the screen; empty if there is
            none.
        needs_login: Whether the agent is idle and its last error says that the user has to log in.
    """

    mark: ScreenState
    resets: str = ""
    trouble: str = ""
    needs_login: bool = False


def read(spec: AgentSpec, text: str) -> ScreenReading:
    """Return what is recognised on a screen of the agent ``spec``.

    ``text`` is the screen as plain text.
    """
    mark, end = read_screen(spec, text), last_rows(text)
    return ScreenReading(
        mark=mark,
        resets=_last(spec.limit, "resets", end) if mark is ScreenState.LIMIT else "",
        trouble=_last(spec.trouble, "cause", end),
        needs_login=mark in {ScreenState.READY, ScreenState.UNKNOWN} and _needs_login(spec, end),
    )


def _needs_login(spec: AgentSpec, text: str) -> bool:
    """Return whether the last error on a screen demands a login and no login follows it."""
    errors = list(re.finditer(spec.trouble, text, re.MULTILINE)) if spec.trouble is not None else []
    if not errors or spec.login is None:
        return False
    cause = errors[-1].groupdict().get("cause") or errors[-1][0]
    since = text[errors[-1].end() :]
    return bool(re.search(spec.login, cause)) and not _LOGGED_IN.search(since)


def read_since(spec: AgentSpec, text: str, mark: str, *, unmarked: bool) -> ScreenReading:
    """Return what `read` recognises on a screen, but ignore a usage limit above the last prompt.

    A limit above the last prompt is over, or is part of a resumed conversation.

    Args:
        spec: The agent's registry entry.
        text: The screen as plain text.
        mark: A word that only the last prompt contains; a terminal may wrap it over several rows.
        unmarked: Whether a limit counts if the screen does not show ``mark``.
    """
    reading = read(spec, text)
    if reading.mark is not ScreenState.LIMIT:
        return reading
    below = _below(text, mark)
    below = text if below is None and unmarked else below
    since = None if below is None else read(spec, below)
    if since is not None and since.mark is ScreenState.LIMIT:
        return replace(reading, resets=since.resets)
    return read(replace(spec, limit=None), text)


def _below(text: str, mark: str) -> str | None:
    """Return the text after the last mention of ``mark``; None if it is not mentioned."""
    wrapped = rf"[\s{_BORDERS}]*".join(map(re.escape, mark))
    matches = list(re.finditer(wrapped, text)) if mark else []
    return text[matches[-1].end() :] if matches else None


def _last(pattern: str | None, group: str, text: str) -> str:
    """Return the named group of the last match of ``pattern`` in ``text``, on one line.

    Empty if nothing matches or the group is missing.
    """
    matches = list(re.finditer(pattern, text, re.MULTILINE)) if pattern is not None else []
    value = matches[-1].groupdict().get(group) if matches else None
    return " ".join((value or "").split())[:_SAID_MAX]


def last_rows(text: str) -> str:
    """Return the end of a screen: its last `LAST_ROWS` non-empty rows and the rows between them.

    These rows show what the agent does now; the rows above may show an earlier part of the
    conversation.
    """
    rows = text.split("\n")
    written = [number for number, row in enumerate(rows) if row.strip()][-LAST_ROWS:]
    return "\n".join(rows[written[0] :]) if written else ""


def read_screen(spec: AgentSpec, text: str) -> ScreenState:
    """Return the state of the agent ``spec``, as recognised from its screen.

    A dialog takes precedence over other text on the screen. ``text`` is the screen as plain text.
    """
    text = last_rows(text)
    for mark, pattern in (
        (ScreenState.TRUST, spec.trust),
        (ScreenState.WAITING, spec.waiting),
        (ScreenState.BUSY, spec.busy),
        (ScreenState.LIMIT, spec.limit),
        (ScreenState.READY, spec.ready),
    ):
        if pattern is not None and re.search(pattern, text, re.MULTILINE):
            return mark
    return ScreenState.UNKNOWN


def shows_prompt(spec: AgentSpec, text: str, mark: str) -> bool:
    """Whether a screen shows a prompt that contains ``mark`` above the agent's input field.

    If the agent asks its user something, the text up to the end of that question counts as well.
    False if the screen shows neither an input field nor a question. True proves that a prompt in
    the agent's argv has arrived; for a prompt that was typed, it is a proof only if the agent asks
    nothing, because the text may still be in the input field.

    Args:
        spec: The agent's registry entry.
        text: The screen as plain text.
        mark: A word that no other prompt contains; a terminal may wrap it over two rows.
    """
    state = read_screen(spec, text)
    pattern = {ScreenState.READY: spec.ready, ScreenState.WAITING: spec.waiting}.get(state)
    matches = list(re.finditer(pattern, text, re.MULTILINE)) if pattern is not None else []
    if not matches:
        return False
    last = matches[-1]
    # Some patterns of a question match from the start of the screen on.
    above = text[: last.end() if state is ScreenState.WAITING else last.start()]
    return mark in "".join(above.split())


def command_in(spec: AgentSpec, text: str) -> str:
    """Return the start of ``text`` that the agent would interpret as a command, such as ``/``.

    ``text`` is a text that is to be typed, not a screen. Empty if the agent would take all of it as
    a prompt.
    """
    match = re.match(spec.commands, text) if spec.commands is not None else None
    return match[0] if match is not None else ""


def shows_limit_menu(spec: AgentSpec, text: str) -> bool:
    """Whether a screen shows the menu of a usage limit that is closed by pressing Enter.

    ``text`` is the screen of the agent ``spec`` as plain text.
    """
    end = last_rows(text)
    return spec.limit_menu is not None and bool(re.search(spec.limit_menu, end, re.MULTILINE))


def is_rejection(spec: AgentSpec, text: str) -> bool:
    """Whether a screen contains the message that the agent does not know its conversation.

    ``text`` is the screen of the agent ``spec`` as plain text.
    """
    return spec.rejected is not None and bool(re.search(spec.rejected, text, re.MULTILINE))


def ends_with_rejection(spec: AgentSpec, text: str) -> bool:
    """Whether a screen ends with the message that the agent does not know its conversation.

    The message does not count further up, or on a screen where a state of the agent is recognised:
    there it may be part of a resumed conversation. ``text`` is the screen as plain text.
    """
    written = [row for row in text.split("\n") if row.strip()][-_LAST_WORDS:]
    unmarked = read_screen(spec, text) is ScreenState.UNKNOWN
    return unmarked and is_rejection(spec, "\n".join(written))


def switches_shown(spec: AgentSpec, text: str) -> int:
    """Return how many messages on the screen ``text`` say that the user switched conversations.

    Always 0 if the agent has no such message (`AgentSpec.switched`).
    """
    return 0 if spec.switched is None else len(re.findall(spec.switched, text, re.MULTILINE))


def last_line(spec: AgentSpec, text: str) -> str:
    """Return the last line that the agent has written; empty if the screen contains no text.

    ``text`` is the screen as plain text. The agent's input field, everything below it, and the
    borders of boxes do not count. If the agent asks its user something, return the last line that
    ends in a question mark, because the choices stand below it. A line of more than 160 characters
    is cut.
    """
    asks = read_screen(spec, text) in {ScreenState.WAITING, ScreenState.TRUST}
    if spec.ready is not None and not asks:
        matches = list(re.finditer(spec.ready, text, re.MULTILINE))
        above = text[: matches[-1].start()] if matches else ""
        text = above if any(map(_is_text, above.split("\n"))) else text
    rows = (" ".join(row.strip(_FRAME).split()) for row in reversed(text.split("\n")))
    written = [row[:_SAID_MAX] for row in rows if _is_text(row)]
    asked = [row for row in written if row.endswith("?")] if asks else []
    return next(iter([*asked, *written]), "")


def question_in(status: str, line: str) -> str:
    """Return the question that an agent asks its user; empty if the agent asks none.

    It is ``line`` if the agent waits for its user and ``line`` contains a question mark; otherwise
    the result is empty.

    Args:
        status: What the agent is doing: ``waiting_for_user``, or another value of
            `ports.tmux.display.SeatStatus.status`, such as ``busy``.
        line: The last line that the agent has written, as `last_line` returns it.
    """
    return line if status == statuses.WAITING and "?" in line else ""


def _is_text(row: str) -> bool:
    return any(char.isalnum() for char in row)
