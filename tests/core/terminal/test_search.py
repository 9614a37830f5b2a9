"""The search of all lists of sessions."""

import pytest

from agentmux.core.terminal.text.search import matches

TEXT = "add-2fa Log people in with a code shop implementing waiting for you"


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("", True),
        ("2", True),
        ("LOG shop", True),
        ("shop log", True),
        ("ad2f", True),
        ("impl wait", True),
        ("implmnt", True),
        ("mplmnt", False),
        ("shop nothing", False),
        ("afdd", False),
    ],
)
def test_words_are_found_whole_in_part_and_with_letters_left_out(sought: str, found: bool) -> None:
    assert matches(sought, TEXT) is found
