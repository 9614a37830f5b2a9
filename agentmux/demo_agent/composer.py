"""The composer: the line for the next message of a person or AgentMux. Pure."""

from __future__ import annotations

from typing import Final

LONG_PASTE: Final = 600
"""A paste of so many characters, or of several lines, is shown as a marker."""


class InputBox:
    """A draft: typed text and pastes; a long paste is shown as a marker."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str]] = []
        self._pastes = 0

    def type(self, text: str) -> None:
        """Append typed characters."""
        self._parts += [(char, char) for char in text if char.isprintable()]

    def paste(self, text: str) -> None:
        """Append a paste; show it as it is if it is one short line, else as a marker."""
        lines = text.count("\n")
        if not lines and len(text) < LONG_PASTE:
            self.type(text)
            return
        self._pastes += 1
        self._parts.append((f"[Pasted text #{self._pastes} +{lines} lines]", text))

    def rub_out(self) -> None:
        """Delete the last character or paste."""
        if self._parts:
            self._parts.pop()

    def clear(self) -> None:
        """Empty the draft."""
        self._parts.clear()

    def take(self) -> str:
        """Return the whole draft and empty it."""
        text = "".join(real for _, real in self._parts)
        self.clear()
        return text

    @property
    def shown(self) -> str:
        """The draft as the screen shows it."""
        return "".join(shown for shown, _ in self._parts)
