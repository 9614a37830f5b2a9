"""A question of which a person types the number or the name of an answer."""

import pytest

from agentmux.cli.ask.numbered_choice import ask_one

ANSWERS = {"ask": "A", "edits": "E"}
TEXT = "How much?\n  1  ask\n  2  edits\n"


@pytest.mark.parametrize(
    ("typed", "chosen", "refused"),
    [
        ([""], "A", ""),
        (["2"], "E", ""),
        (["EDITS"], "E", ""),
        (["3", "nothing", "1"], "A", "`3` is not in the list\n`nothing` is not in the list\n"),
    ],
)
def test_it_asks_until_an_answer_matches_and_shows_the_list_once(
    typed: list[str], chosen: str, refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return typed[len(asked) - 1]

    assert ask_one(ask, TEXT, ANSWERS, "ask") == chosen
    prompt = "Number or name [ask]: "
    assert asked == [TEXT + prompt, *[prompt] * (len(typed) - 1)]
    assert capsys.readouterr().err == refused
