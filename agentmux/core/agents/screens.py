"""What the screen of an agent says, by the patterns of its registry entry."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.frozen import dataclass

LAST_ROWS: Final = 25
"""Of a screen that are read, blank ones not counted: composer, busy mark and dialogs are there."""

_SAID_MAX: Final = 160
"""Characters of what an agent says that are passed on."""

_LAST_WORDS: Final = 8
"""Rows with text at the end of a screen: an error, and the hints that go with it (copilot: six)."""


class ScreenMark(StrEnum):
    """What an agent's screen says about it."""

    TRUST = "trust"
    LIMIT = "limit"
    WAITING = "waiting"
    BUSY = "busy"
    READY = "ready"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one screen says.

    Attributes:
        resets: When its usage limit ends, as the agent words it; empty without one, or unknown.
        trouble: What its service says went wrong last; empty where nothing did.
    """

    mark: ScreenMark
    resets: str = ""
    trouble: str = ""


def read(spec: AgentSpec, text: str) -> Reading:
    """Read all that the plain text of a screen says."""
    mark, end = read_screen(spec, text), last_rows(text)
    return Reading(
        mark=mark,
        resets=_last(spec.limit, "resets", end) if mark is ScreenMark.LIMIT else "",
        trouble=_last(spec.trouble, "cause", end),
    )


def _last(pattern: str | None, group: str, text: str) -> str:
    """Return in one line what the last match has in the group; empty where it has none."""
    found = list(re.finditer(pattern, text, re.MULTILINE)) if pattern is not None else []
    said = found[-1].groupdict().get(group) if found else None
    return " ".join((said or "").split())[:_SAID_MAX]


def last_rows(text: str) -> str:
    """Return the end of a screen that says what the agent does now.

    What stands above is talk of an earlier time.
    """
    rows = text.split("\n")
    written = [number for number, row in enumerate(rows) if row.strip()][-LAST_ROWS:]
    return "\n".join(rows[written[0] :]) if written else ""


def read_screen(spec: AgentSpec, text: str) -> ScreenMark:
    """Say what the plain text of a screen shows; a dialog wins over what stands around it."""
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
    """Whether the screen of an idle agent shows, above its composer, a prompt that holds ``mark``.

    So a prompt counts as arrived whose turn was over before anybody saw it at work. ``mark`` must
    be a word that stands in no other prompt; a terminal may break it over two rows.
    """
    if spec.ready is None or read_screen(spec, text) is not ScreenMark.READY:
        return False
    *_, composer = re.finditer(spec.ready, text, re.MULTILINE)
    return mark in "".join(text[: composer.start()].split())


def is_rejection(spec: AgentSpec, text: str) -> bool:
    """Whether the screen says that the agent does not know its conversation."""
    return spec.rejected is not None and bool(re.search(spec.rejected, text, re.MULTILINE))


def refuses(spec: AgentSpec, text: str) -> bool:
    """Whether all that the agent has to say is that it does not know its conversation.

    The same words further up, or above a composer, may stand in a conversation that was resumed.
    """
    written = [row for row in text.split("\n") if row.strip()][-_LAST_WORDS:]
    unmarked = read_screen(spec, text) is ScreenMark.UNKNOWN
    return unmarked and is_rejection(spec, "\n".join(written))


def switches_shown(spec: AgentSpec, text: str) -> int:
    """Count how often the screen says that the user has left the conversation."""
    return 0 if spec.switched is None else len(re.findall(spec.switched, text, re.MULTILINE))
