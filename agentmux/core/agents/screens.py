"""Reading an agent's screen with the patterns of its registry entry."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.frozen import dataclass

LAST_ROWS: Final = 25
"""Rows with text at the end of a screen that are read: composer, busy mark and dialogs."""

_SAID_MAX: Final = 160
"""The longest text of an agent that is passed on, in characters."""

_LAST_WORDS: Final = 8
"""Rows with text at the end of a screen: enough for an error and its hints (copilot: six)."""


class ScreenMark(StrEnum):
    """What an agent's screen says about the agent."""

    TRUST = "trust"
    LIMIT = "limit"
    WAITING = "waiting"
    BUSY = "busy"
    READY = "ready"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one screen says about its agent.

    Attributes:
        resets: When the usage limit ends, in the agent's words; empty without a limit or unknown.
        trouble: The last error of the agent's service; empty without one.
    """

    mark: ScreenMark
    resets: str = ""
    trouble: str = ""


def read(spec: AgentSpec, text: str) -> Reading:
    """Return what the plain text of a screen says."""
    mark, end = read_screen(spec, text), last_rows(text)
    return Reading(
        mark=mark,
        resets=_last(spec.limit, "resets", end) if mark is ScreenMark.LIMIT else "",
        trouble=_last(spec.trouble, "cause", end),
    )


def _last(pattern: str | None, group: str, text: str) -> str:
    """Return the group of the last match, on one line; empty without a match."""
    found = list(re.finditer(pattern, text, re.MULTILINE)) if pattern is not None else []
    said = found[-1].groupdict().get(group) if found else None
    return " ".join((said or "").split())[:_SAID_MAX]


def last_rows(text: str) -> str:
    """Return the end of a screen, which shows what the agent does now.

    The rows above may show an earlier part of the conversation.
    """
    rows = text.split("\n")
    written = [number for number, row in enumerate(rows) if row.strip()][-LAST_ROWS:]
    return "\n".join(rows[written[0] :]) if written else ""


def read_screen(spec: AgentSpec, text: str) -> ScreenMark:
    """Return what the plain text of a screen shows; a dialog wins over the text around it."""
    text = last_rows(text)
    for mark, pattern in (
        (ScreenMark.TRUST, spec.trust),
        (ScreenMark.WAITING, spec.waiting),
        (ScreenMark.BUSY, spec.busy),
        (ScreenMark.LIMIT, spec.limit),
        (ScreenMark.READY, spec.ready),
    ):
        if pattern is not None and re.search(pattern, text, re.MULTILINE):
            return mark
    return ScreenMark.UNKNOWN


def shows_prompt(spec: AgentSpec, text: str, mark: str) -> bool:
    """Whether an idle agent's screen shows, above its composer, a prompt that contains ``mark``.

    It proves that a prompt arrived whose turn ended before the agent was seen at work. ``mark``
    must be a word that no other prompt contains; a terminal may wrap it over two rows.
    """
    if spec.ready is None or read_screen(spec, text) is not ScreenMark.READY:
        return False
    *_, composer = re.finditer(spec.ready, text, re.MULTILINE)
    return mark in "".join(text[: composer.start()].split())


def is_rejection(spec: AgentSpec, text: str) -> bool:
    """Whether the screen says that the agent does not know its conversation."""
    return spec.rejected is not None and bool(re.search(spec.rejected, text, re.MULTILINE))


def refuses(spec: AgentSpec, text: str) -> bool:
    """Whether the screen ends with the message that the agent does not know its conversation.

    The same words further up, or above a composer, may be part of a resumed conversation.
    """
    written = [row for row in text.split("\n") if row.strip()][-_LAST_WORDS:]
    unmarked = read_screen(spec, text) is ScreenMark.UNKNOWN
    return unmarked and is_rejection(spec, "\n".join(written))


def switches_shown(spec: AgentSpec, text: str) -> int:
    """Return how often the screen says that the user has switched to another conversation."""
    return 0 if spec.switched is None else len(re.findall(spec.switched, text, re.MULTILINE))
