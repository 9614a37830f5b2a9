"""The keys that a person types for an agent's question."""

import pytest

from agentmux.core.terminal.keys.answer_keys import is_key, only_moves, read_keys, shown_keys
from agentmux.errors import UsageError


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["Enter"], ("Enter",)),
        (["esc", "return", "DOWN", "s-tab"], ("Escape", "Enter", "Down", "BTab")),
        (["C-c", "c-d"], ("C-c", "C-d")),
        (["2", "y"], ("text:2", "text:y")),
        (["use the second one", "Enter"], ("text:use the second one", "Enter")),
        (["übung;"], ("text:übung;",)),
        (["yes", "no"], ("text:yes", "text:no")),
    ],
)
def test_a_word_is_a_key_or_a_text(words: list[str], keys: tuple[str, ...]) -> None:
    assert read_keys(words) == keys


@pytest.mark.parametrize("word", ["Entr", "Escpe", "C-Enter", "M-x", "", "a\nb", "\x1b[A"])
def test_what_is_neither_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        read_keys([word])


def test_a_mistyped_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as error:
        read_keys(["Entr"])
    assert "did you mean `Enter`?" in error.value.hints


def test_literal_words_are_no_names() -> None:
    assert read_keys(["Enter", "C-c", "Entr"], literal=True) == (
        *("text:Enter", "text:C-c", "text:Entr"),
    )


def test_no_key_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="which keys"):
        read_keys([])


def test_a_first_word_that_is_a_key_is_no_session() -> None:
    assert all(map(is_key, ("2", "enter", "C-c", "y")))
    assert not any(map(is_key, ("add-login", "20261123", "yes")))


def test_keys_in_words() -> None:
    assert shown_keys(("Down", "text:a b")) == "Down `a b`"


def test_keys_that_only_move_are_told_from_those_that_answer() -> None:
    assert only_moves(read_keys(["Down", "tab", "pageup"]))
    for words in (["Down", "Enter"], ["y"], ["Space"], ["Escape"]):
        assert not only_moves(read_keys(words))
