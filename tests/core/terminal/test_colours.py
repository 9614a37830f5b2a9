"""Whether a terminal gets colours, and a text in one."""

import pytest

from agentmux.core.names.status_labels import Colour
from agentmux.core.terminal.text.colours import paint_text, shows_colours

TERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "on_terminal", "shown"),
    [
        (TERM, True, True),
        (TERM, False, False),
        ({**TERM, "NO_COLOR": "1"}, True, False),
        ({**TERM, "NO_COLOR": ""}, True, True),
        ({**TERM, "CLICOLOR": "0"}, True, False),
        ({**TERM, "CLICOLOR": "1"}, True, True),
        ({**TERM, "CLICOLOR_FORCE": "1"}, False, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
    ],
)
def test_who_gets_colours(environ: dict[str, str], on_terminal: bool, shown: bool) -> None:
    assert shows_colours(environ, on_terminal=on_terminal) is shown


def test_a_text_keeps_its_words_in_any_colour() -> None:
    assert paint_text("gone", Colour.RED, colours=True) == "\x1b[31mgone\x1b[0m"
    assert paint_text("gone", Colour.RED, colours=False) == "gone"
    assert paint_text("gone", Colour.NONE, colours=True) == "gone"
