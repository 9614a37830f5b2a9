"""A question that a person answers with yes or no."""

import pytest

from agentmux.cli.ask.yes_or_no import ask_yes


@pytest.mark.parametrize(
    ("typed", "usual", "means", "refused"),
    [
        ([""], True, True, ""),
        ([""], False, False, ""),
        (["Y"], False, True, ""),
        (["no"], True, False, ""),
        (["claude", "2", "yes"], True, True, "`claude` `2`"),
    ],
)
def test_a_word_that_is_neither_is_asked_about_again(
    typed: list[str], usual: bool, means: bool, refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return typed[len(asked) - 1]

    assert ask_yes(ask, "All of it?", usual=usual, before="Lines\n") is means
    prompt = f"All of it? [{'Y/n' if usual else 'y/N'}]: "
    assert asked == [f"Lines\n{prompt}", *[prompt] * (len(typed) - 1)]
    told = [f"{word} is neither yes nor no\n" for word in refused.split()]
    assert capsys.readouterr().err == "".join(told)
