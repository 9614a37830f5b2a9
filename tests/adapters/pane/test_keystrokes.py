"""Keys for a question: sent once, and only to the screen that was shown."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from agentmux.adapters.pane.keystrokes import press
from agentmux.core.codec.digests import screen_digest
from agentmux.ports.tmux.terminal import (
    DeliveryResult,
    Screen,
    TerminalError,
    TerminalUnreachableError,
    TypingResult,
)

ASKS = "● runs\nproceed?\n > yes\n   no"
BLINKS = ASKS.replace("●", " ")
OTHER = "● runs\ndelete all?\n > yes\n   no"
GONE = "done\n\n>"


class Pane:
    """A pane that shows one frame after the other, the last one for ever; time stands still."""

    def __init__(self, *frames: str | None, fails: Exception | None = None) -> None:
        self.frames = list(frames)
        self.fails = fails
        self.sent: list[str] = []
        self.now = 0.0

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        text = self.frames.pop(0) if len(self.frames) > 1 else self.frames[0]
        if text is None:
            return {}
        screen = Screen(ansi=text, text=text, cols=80, rows=24, cursor_row=0, cursor_col=0)
        return dict.fromkeys(panes, screen)

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        self._send(*keys)

    def type_text(self, pane: str, text: str) -> None:
        self._send(f"'{text}'")

    def _send(self, *keys: str) -> None:
        self.sent += keys
        if self.fails is not None:
            raise self.fails

    async def pause(self, seconds: float) -> None:
        self.now += seconds

    def press(self, *keys: str) -> TypingResult:
        pressed = press(
            *(self, "%1", keys),  # type: ignore[arg-type]  # all it asks
            screen=screen_digest(ASKS),
            clock=lambda: self.now,
            pause=self.pause,
        )
        return asyncio.run(pressed)


def test_keys_reach_the_screen_that_was_shown() -> None:
    pane = Pane(ASKS, GONE)
    done = pane.press("Enter")
    assert (done.result, pane.sent) == (DeliveryResult.SENT, ["Enter"])
    assert done.evidence == "after that its screen changed"


def test_no_key_reaches_another_screen() -> None:
    pane = Pane(OTHER)
    assert pane.press("Enter").result is DeliveryResult.SCREEN_CHANGED
    assert pane.sent == []


def test_a_blinking_mark_only_delays_the_keys() -> None:
    pane = Pane(BLINKS, BLINKS, ASKS, GONE)
    assert pane.press("Enter").result is DeliveryResult.SENT
    assert pane.sent == ["Enter"]


def test_a_mark_that_blinks_afterwards_is_no_effect() -> None:
    done = Pane(ASKS, BLINKS, ASKS, BLINKS).press("Left")
    assert done.result is DeliveryResult.SENT
    assert done.evidence == "its screen has hardly changed since: not answered yet? Enter confirms"


def test_several_keys_go_one_after_the_other() -> None:
    moved = ASKS.replace(" > yes\n   no", "   yes\n > no")
    pane = Pane(ASKS, ASKS, moved, moved, moved, moved, moved, moved, GONE)
    assert pane.press("Down", "text:no", "Enter").result is DeliveryResult.SENT
    assert pane.sent == ["Down", "'no'", "Enter"]


def test_a_pane_that_is_gone_gets_nothing() -> None:
    pane = Pane(None)
    assert pane.press("Enter").result is DeliveryResult.PANE_GONE
    assert pane.sent == []


@pytest.mark.parametrize("error", [TerminalError("no pane"), TerminalUnreachableError("no answer")])
def test_keys_are_not_sent_again_if_tmux_fails(error: TerminalError) -> None:
    pane = Pane(ASKS, fails=error)
    done = pane.press("Enter", "Enter")
    assert (done.result, pane.sent) == (DeliveryResult.UNKNOWN, ["Enter"])
    assert "keys may have been pressed" in done.evidence
