"""Nothing that a person reads holds a character that hides itself or changes the others."""

import unicodedata

import pytest

from agentmux.core.terminal.text.visible_text import ODD, visible


def test_every_character_that_acts_is_replaced() -> None:
    for code in range(0x110000):
        char, shown = chr(code), visible(chr(code))
        shown.encode()
        if unicodedata.category(char) in {"Cc", "Cs"} or unicodedata.bidirectional(char) in {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        }:
            assert shown == (char if char in "\n\t" else ODD), hex(code)
        elif char.isprintable():
            assert shown == char, hex(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext\r\n", "plain\n\ttext\r\n"),
        ("over\rwritten", f"over{ODD}written"),
        ("\x1b[31mred", f"{ODD}[31mred"),
        ("x-\udcff.py", f"x-{ODD}.py"),
        ("fdp.\u202egnp.exe", f"fdp.{ODD}gnp.exe"),
        ("calc\u200d.py, calc\xad.py", f"calc{ODD}.py, calc{ODD}.py"),
        ("\U0001f469\u200d\U0001f4bb, \u0645\u06cc\u200c\u0634\u0648\u062f, a\xa0b, \u3000", None),
    ],
)
def test_what_is_shown(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)
