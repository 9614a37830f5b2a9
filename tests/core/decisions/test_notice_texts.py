"""The texts of notifications."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.decisions.attention import Notice
from agentmux.core.decisions.notice_texts import (
    notice_body,
    notice_command,
    notice_line,
    notice_title,
)
from agentmux.core.names.occasion import Occasion


@pytest.mark.parametrize(
    ("on", "seats", "title", "line", "command"),
    [
        (Occasion.DECISION, [""], "login wants your decision", "a session wants your decision",
         "agentmux attach login"),
        (Occasion.QUESTION, ["coder-1"], "login: coder-1 waits for you", "coder-1 waits for you",
         "agentmux attach login"),
        (Occasion.STALLED, ["a", "b", "c"], "login: a, b and c have stalled",
         "a, b and c have stalled", "agentmux attach login"),
        (Occasion.DONE, [""], "login is done", "a session is done", "agentmux status login"),
    ],
)  # fmt: skip
def test_a_notification_says_who_and_what_to_type(
    on: Occasion, seats: list[str], title: str, line: str, command: str
) -> None:
    notices = [Notice(key="k", on=on, seat=seat) for seat in seats]
    assert notice_title("login", notices) == title
    assert notice_command("login", on) == command
    assert notice_line("login", notices) == f"{line}: {command}"


def test_the_body_has_the_first_line_of_the_feature() -> None:
    body = notice_body("shop", "\n Add a login\nwith many details", "agentmux attach login")
    assert body == "Add a login\nin shop: agentmux attach login"


@given(st.text(max_size=300))
def test_no_text_holds_a_control_character(text: str) -> None:
    body = notice_body(text, text, f"agentmux show {text[:5].split() or 'x'}")
    title = notice_title(text, [Notice(key="k", on=Occasion.DONE)])
    assert len(body.splitlines()) <= 2
    kinds = {unicodedata.category(char) for char in (title + body).replace("\n", "")}
    assert not kinds & {"Cc", "Cs"}
