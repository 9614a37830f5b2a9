"""What is written for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agentmux.cli import render


@pytest.fixture
def located() -> Iterator[list[str]]:
    """What was given to the function that completes commands."""
    given: list[str] = []

    def locate(text: str) -> str:
        given.append(text)
        return f"<{text}>"

    render.word_messages(locate)
    yield given
    render.word_messages(str)


@pytest.mark.parametrize(
    ("write", "before"),
    [
        pytest.param(render.out, "", id="out"),
        pytest.param(render.note, "", id="note"),
        pytest.param(render.hint, "hint: ", id="hint"),
        pytest.param(render.failure, "error: ", id="failure"),
    ],
)
def test_the_commands_of_each_message_are_completed_once(
    write: Callable[[str], None],
    before: str,
    located: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("see agentmux list")
    shown = capsys.readouterr()
    assert (shown.out + shown.err) == f"{before}<see agentmux list>\n"
    assert located == ["see agentmux list"]


def test_what_is_no_message_of_ours_stays_as_it_is(
    located: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    render.out("agentmux list", verbatim=True)
    assert capsys.readouterr().out == "agentmux list\n"
    assert located == []
