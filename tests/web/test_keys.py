"""The keys of the page: those of the table, each on an element; its script sends no form."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

from agentmux.core.terminal.keys.key_commands import KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.web.pages.markup import key_attributes
from tests.e2e.conftest import Project
from tests.web.conftest import Page

WEB = Path(__file__).parents[2] / "agentmux" / "web"
TEMPLATES = "\n".join(each.read_text("utf-8") for each in (WEB / "templates").iterdir())
BY_MACRO = {"restart", "skip", "unpark", "resume"}
"""The commands whose forms get their keys from the macro of all small forms."""


def test_every_key_of_the_page_acts_on_an_element() -> None:
    used = set(
        re.findall(r'"([a-z_]+)"', " ".join(re.findall(r"pressed_by\(([^)]*)\)", TEMPLATES)))
    )
    named = {each.name for each in KEYS.lines_at(KeyPlace.PAGE)} - {"back"}  # Esc, in the script
    assert named - BY_MACRO <= used
    assert all(f'forms.action(place, "{name}"' in TEMPLATES for name in BY_MACRO - {"resume"})


@pytest.mark.parametrize(
    ("names", "number", "key", "spoken"),
    [
        (("approve",), 0, "a", "a"),
        (("stop",), 0, "S", "Shift+S"),
        (("keys",), 0, "?", "?"),
        (("tab",), 4, "5", "5"),
        (("tab", "diff"), 3, "4 d", "4 d"),
    ],
)
def test_an_element_has_its_keys_for_the_script_and_for_screen_readers(
    names: tuple[str, ...], number: int, key: str, spoken: str
) -> None:
    wanted = f' data-key="{key}" aria-keyshortcuts="{spoken}"'
    assert key_attributes(*names, number=number) == Markup(wanted)


def test_help_begins_with_words(shared: Project) -> None:
    page = Page(shared).login()
    text = page.text("/help")
    words = text[: text.index('id="keys"')]
    for label in ("Needs you", "yours to decide", "Interrupted", "Ask for changes"):
        assert label in words
    for line in KEYS.lines_at(KeyPlace.PAGE):
        assert (f"<dt>{line.command.value.capitalize()}</dt><dd>{line.says}</dd>" in words) is bool(
            line.runs
        )
    page.close()


def test_the_page_has_its_script_its_keys_and_their_list(shared: Project) -> None:
    page = Page(shared).login()
    text = page.text("/")
    assert 'href="/help" data-key="?" aria-keyshortcuts="?"' in text
    text += page.text("/help")
    assert '<script src="/static/keys.js" defer></script>' in text
    of_a_fleet = {KeyCommand.FLEET, KeyCommand.DRAIN}
    for each in KEYS.lines_at(KeyPlace.PAGE):
        listed = f"<dt>{each.label}</dt><dd>{each.says}</dd>" in text
        assert listed is (each.command not in of_a_fleet)
    assert 'href="/start" aria-label="New session" data-key="n" aria-keyshortcuts="n"' in text
    assert "submit" not in page.text("/static/keys.js")
    page.close()
