"""The content of the input field in which the user types or pastes the next prompt. Pure."""

from __future__ import annotations

from typing import Final

LONG_PASTE: Final = 600
"""The length in characters from which a paste is shown as a marker.

A paste of several lines is always shown as a marker.
"""


class InputBox:
    """The draft of the next prompt, made of typed text and pastes."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str]] = []
        self._pastes = 0

    def type(self, text: str) -> None:
        """Append typed text, without its unprintable characters."""
        self._parts += [(char, char) for char in text if char.isprintable()]

    def paste(self, text: str) -> None:
        """Append pasted text, which is shown as a marker unless it is a single short line."""
        lines = text.count("\n")
        if not lines and len(text) < LONG_PASTE:
            self.type(text)
            return
        self._pastes += 1
        self._parts.append((f"[Pasted text #{self._pastes} +{lines} lines]", text))

    def rub_out(self) -> None:
        """Delete the last character, or the last paste if it is shown as a marker."""
        if self._parts:
            self._parts.pop()

    def clear(self) -> None:
        """Empty the draft."""
        self._parts.clear()

    def take(self) -> str:
        """Empty the draft, and return the text that it had, with the full text of its pastes."""
        text = "".join(real for _, real in self._parts)
        self.clear()
        return text

    @property
    def shown_text(self) -> str:
        """The draft as the screen shows it, with markers in place of long pastes."""
        return "".join(shown for shown, _ in self._parts)
