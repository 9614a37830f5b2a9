"""Decides whether an output gets colours, and colours a text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentmux.core.names.status_labels import Colour

CODES: Final[Mapping[str, str]] = {
    Colour.GREEN: "32",
    Colour.YELLOW: "33",
    Colour.RED: "31",
    Colour.DIM: "2",
}
"""The SGR code of each colour in a terminal's escape sequences."""


def shows_colours(environ: Mapping[str, str], *, on_terminal: bool) -> bool:
    """Return whether an output may get colours.

    ``NO_COLOR`` turns them off unless it is empty. Otherwise ``CLICOLOR_FORCE`` or ``FORCE_COLOR``
    turns them on unless it is empty or 0. Otherwise they are on for a terminal, unless ``CLICOLOR``
    is 0 or ``TERM`` is ``dumb`` or missing. Sources: no-color.org, bixense.com/clicolors,
    force-color.org.

    Args:
        environ: The environment of the process.
        on_terminal: Whether the output is a terminal.
    """
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "") not in {"", "0"} for name in ("CLICOLOR_FORCE", "FORCE_COLOR")):
        return True
    plain = environ.get("CLICOLOR") == "0" or environ.get("TERM", "dumb") in {"", "dumb"}
    return on_terminal and not plain


def paint_text(text: str, colour: Colour, *, colours: bool) -> str:
    """Return the text in a colour, by escape sequences; unchanged if ``colours`` is False.

    Unchanged also if the colour is ``Colour.NONE`` or the text is empty.
    """
    code = CODES.get(colour)
    return f"\x1b[{code}m{text}\x1b[0m" if colours and code and text else text
