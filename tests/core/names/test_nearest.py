"""Finding the name that a mistyped one probably means."""

import pytest

from agentmux.core.names.phase import ROLES
from agentmux.core.names.words.nearest import nearest, nearest_of, suggest_name


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("clude", ("codex", "claude", "demo"), ("claude",)),
        ("CLAUDE", ("codex", "claude"), ("claude",)),
        ("reviewer", ROLES, ("reviewer_logic", "reviewer_quality", "reviewer_expert")),
        ("reviwer_logic", ROLES, ("reviewer_logic",)),
        ("codr", ROLES, ("coder",)),
        ("xyz", ROLES, ()),
        ("", ROLES, ()),
        ("coder", (), ()),
    ],
)
def test_the_nearest_name(word: str, known: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert nearest(word, known) == found


def test_the_hint_names_all_of_several() -> None:
    assert suggest_name("reviewer", ROLES) == (
        "did you mean `reviewer_logic`, `reviewer_quality` or `reviewer_expert`?",
    )
    assert suggest_name("clude", ["claude"]) == ("did you mean `claude`?",)
    assert suggest_name("xyz", ["claude"]) == ()


def test_a_name_is_found_by_any_of_its_spellings() -> None:
    spellings = {"1-add-login": ("1-add-login", "add", "login"), "2-logout": ("2-logout", "logout")}
    assert nearest_of("logn", spellings) == ("1-add-login",)
    assert nearest_of("logou", spellings) == ("2-logout",)
    assert nearest_of("xyz", spellings) == ()
