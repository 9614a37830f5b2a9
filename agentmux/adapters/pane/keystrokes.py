"""Presses keys in an agent's pane for a person, provided that the pane still shows what they saw.

The keys are sent once. Of several keys, each is sent when the screen has settled after the one
before: agents take keys that arrive together for a paste, in which Enter is a new line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from agentmux.core.codec.digests import screen_digest
from agentmux.core.terminal.keys.answer_keys import TEXT
from agentmux.ports.tmux.terminal import (
    DeliveryResult,
    Panes,
    TerminalError,
    TerminalUnreachableError,
    TypingResult,
)

_POLL_S: Final = 0.04
_REST_S: Final = 0.16
"""Seconds without a change after which a screen counts as settled."""

_BETWEEN_S: Final = 1.0
"""The maximum time, in seconds, to wait for the screen to settle between two keys."""

_AGAIN_S: Final = 2.0
"""The longest wait for the screen that was shown to come again: agents let a mark blink beside
their question (claude: every 0.6 s), which is another screen each time."""

_AFTER_S: Final = 2.0
"""The maximum time, in seconds, to wait for a sign that the keys had an effect."""

_UNCHANGED: Final = "its screen has hardly changed since: not answered yet? Enter confirms"
_CHANGED: Final = "its screen is another one than was shown; no key was pressed"

Clock = Callable[[], float]
Pause = Callable[[float], Awaitable[object]]


async def press(
    panes: Panes,
    pane: str,
    keys: Sequence[str],
    *,
    screen: str,
    clock: Clock = time.monotonic,
    pause: Pause = asyncio.sleep,
) -> TypingResult:
    """Press the keys once, but only if the pane shows the screen that the person saw.

    It waits up to two seconds for that screen. The screen can still change in the milliseconds
    between the check and the first key.

    Args:
        panes: The panes of the session.
        pane: The id of the pane.
        keys: The keys as `answer_keys.read_keys` returns them: tmux's names of keys, or `TEXT` and
            the text to type.
        screen: The digest of that screen, as `screen_digest` returns it.
        clock: Returns monotonic seconds.
        pause: Waits for a number of seconds.

    Returns:
        As ``result``: ``sent``, even if the screen hardly changes afterwards (``evidence`` then
        says so); ``screen_changed`` or ``pane_gone`` if no key was pressed; ``unknown`` if tmux
        failed.
    """
    pressed = 0
    try:
        shown = await _wait_for_screen(panes, pane, screen, clock=clock, pause=pause)
        if isinstance(shown, TypingResult):
            return shown
        seen = shown
        for number, key in enumerate(keys):
            if number:
                await _rest(panes, pane, seen, clock=clock, pause=pause)
                seen = _look(panes, pane) or seen
            pressed += 1
            _send(panes, pane, key)
        changed = await _changes(panes, pane, seen, clock=clock, pause=pause)
    except TerminalUnreachableError as error:
        return _report_error(error, pressed, gone=False)
    except TerminalError as error:
        return _report_error(error, pressed, gone=True)
    return _report(DeliveryResult.SENT, "after that its screen changed" if changed else _UNCHANGED)


def _send(panes: Panes, pane: str, key: str) -> None:
    if key.startswith(TEXT):
        panes.type_text(pane, key.removeprefix(TEXT))
    else:
        panes.press_keys(pane, [key])


async def _wait_for_screen(
    panes: Panes, pane: str, screen: str, *, clock: Clock, pause: Pause
) -> str | TypingResult:
    """Return the screen with this digest as soon as the pane shows it, else why no key is due."""
    end = clock() + _AGAIN_S
    while True:
        seen = _look(panes, pane)
        if seen is None:
            return _report(DeliveryResult.PANE_GONE, "its pane is gone; no key was pressed")
        if screen_digest(seen) == screen:
            return seen
        if clock() >= end:
            return _report(DeliveryResult.SCREEN_CHANGED, _CHANGED)
        await pause(_POLL_S)


def _look(panes: Panes, pane: str) -> str | None:
    screen = panes.capture([pane]).get(pane)
    return None if screen is None else screen.ansi


async def _rest(panes: Panes, pane: str, before: str, *, clock: Clock, pause: Pause) -> None:
    """Wait until the screen has changed and settled, but at most `_BETWEEN_S` seconds."""
    end = clock() + _BETWEEN_S
    last, since = before, clock()
    while clock() < end:
        await pause(_POLL_S)
        now = _look(panes, pane)
        if now is None:
            return
        if now != last:
            last, since = now, clock()
        elif last != before and clock() - since >= _REST_S:
            return


async def _changes(panes: Panes, pane: str, before: str, *, clock: Clock, pause: Pause) -> bool:
    """Return whether more than one row changes, or the pane ends, within `_AFTER_S` seconds.

    A change in one row may be a blinking mark.
    """
    end, rows = clock() + _AFTER_S, before.split("\n")
    while clock() < end:
        now = _look(panes, pane)
        if now is None:
            return True
        there = now.split("\n")
        changed = sum(one != other for one, other in zip(rows, there, strict=False))
        if changed + abs(len(rows) - len(there)) > 1:
            return True
        await pause(_POLL_S)
    return False


def _report_error(error: TerminalError, pressed: int, *, gone: bool) -> TypingResult:
    if pressed:
        return _report(DeliveryResult.UNKNOWN, f"{error.message}; keys may have been pressed")
    result = DeliveryResult.PANE_GONE if gone else DeliveryResult.UNKNOWN
    return _report(result, f"{error.message}; no key was pressed")


def _report(result: DeliveryResult, evidence: str) -> TypingResult:
    return TypingResult(result=result, evidence=evidence)
