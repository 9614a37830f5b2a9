"""Decoding a terminal's bytes into keys, however they are split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.keys.keys import Key, Keys, Pressed


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[A\x1b[B\x1bOA\x1bOB", (Key.UP, Key.DOWN, Key.UP, Key.DOWN)),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[F", (Key.PAGE_UP, Key.PAGE_DOWN, Key.HOME, Key.END)),
        (b"\r\n\t\x7f\x03\x06", (Key.ENTER, Key.ENTER, Key.TAB, Key.BACKSPACE, Key.INTERRUPT,
                                 Key.CTRL_F)),
        ("aé漢".encode(), ("a", "é", "漢")),
        (b"\x1b[1;5C\x1b[99~x\x00\x1a", ("x",)),
        (b"\x1b\x1b[A", (Key.ESCAPE, Key.UP)),
        (b"\x1b[200~fa\rb\x1b[201~\r", (Key.PASTE, "f", "a", " ", "b", Key.ENTER)),
        (b"a\xffb", ("a", "b")),
    ],
)  # fmt: skip
@given(cut=st.integers(min_value=0, max_value=12))
def test_bytes_become_keys_however_they_are_cut(
    data: bytes, keys: tuple[Pressed, ...], cut: int
) -> None:
    parser = Keys()
    assert parser.feed(data[:cut]) + parser.feed(data[cut:]) == keys
    assert not parser.waiting


def test_a_lone_escape_is_the_key_once_nothing_follows() -> None:
    parser = Keys()
    assert parser.feed(b"\x1b") == ()
    assert parser.waiting
    assert parser.flush() == (Key.ESCAPE,)
    assert not parser.waiting
