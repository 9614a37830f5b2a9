"""Each screen recorded from a real agent is read as its kind, at every width."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.pane.delivery import find_composer
from agentmux.core.agents.reset_times import reset_time
from agentmux.core.agents.screens import (
    ScreenState,
    ends_with_rejection,
    read,
    read_since,
    shows_limit_menu,
    shows_prompt,
)
from agentmux.core.agents.spec import SCREENS
from agentmux.core.config.settings import Settings
from tests.real.clis import CLIS
from tests.real.recorded_screens import WIDTHS, Fixture, fixtures

REGISTRY = load_registry(Settings())
KEPT = tuple(fixtures())

TROUBLE = "trouble"
QUIET = {"ready", "resumed"}
"""Kinds on whose screens nothing is wrong: no trouble may be read there."""


def named(fixture: Fixture) -> str:
    return f"{fixture.agent}-{fixture.screen}-{fixture.cols}"


@pytest.mark.parametrize("fixture", KEPT, ids=named)
def test_a_recorded_screen_is_read_as_what_it_is(fixture: Fixture) -> None:
    spec, text = REGISTRY[fixture.agent], fixture.seen.text

    found = read(spec, text)

    assert found.mark == fixture.mark
    assert bool(found.trouble) is (fixture.kind == TROUBLE), found.trouble
    assert bool(re.search(fixture.says, found.resets or found.trouble)), found
    assert ends_with_rejection(spec, text) is (fixture.kind == "rejected")
    assert not shows_prompt(spec, text, "0123456789ab")


@pytest.mark.parametrize("fixture", [each for each in KEPT if each.mark == "ready"], ids=named)
def test_an_idle_agent_has_a_composer_and_its_draft_is_known(fixture: Fixture) -> None:
    composer = find_composer(fixture.seen, REGISTRY[fixture.agent])

    assert composer is not None
    assert composer.draft == DRAFTS.get(f"{fixture.agent}-{fixture.screen}", "")


COVERED = {"aider"}
"""The agents that show no composer while they work."""


@pytest.mark.parametrize("fixture", [each for each in KEPT if each.kind == "busy"], ids=named)
def test_an_agent_at_work_shows_its_composer(fixture: Fixture) -> None:
    """That it is empty then proves that a text which was typed has been submitted."""
    composer = find_composer(fixture.seen, REGISTRY[fixture.agent])

    assert (composer is None) is (fixture.agent in COVERED)
    assert composer is None or composer.draft == ""


DRAFTS = {"codex-draft-refused": "/nonsense"}
"""The screens on which something stands in the composer."""


@pytest.mark.parametrize("fixture", KEPT, ids=named)
def test_only_who_is_logged_out_has_to_log_in(fixture: Fixture) -> None:
    found = read(REGISTRY[fixture.agent], fixture.seen.text)
    rests = fixture.mark == "ready"  # codex still tries again
    assert found.needs_login is (fixture.screen == "trouble-login" and rests)


MENUS = {
    *(f"claude-limit-{which}" for which in ("week", "hours", "other", "spend", "credits")),
    "gemini-limit-day",
}
"""The screens with a menu that a usage limit brings up, with its first answer preselected."""


@pytest.mark.parametrize("fixture", KEPT, ids=named)
def test_only_the_menu_of_a_limit_is_left_with_enter(fixture: Fixture) -> None:
    is_menu = f"{fixture.agent}-{fixture.screen}" in MENUS
    assert shows_limit_menu(REGISTRY[fixture.agent], fixture.seen.text) is is_menu


@pytest.mark.parametrize("fixture", [e for e in KEPT if e.screen == "limit-typed"], ids=named)
def test_a_limit_below_a_text_that_is_not_sent_yet_is_the_old_one(fixture: Fixture) -> None:
    found = read_since(REGISTRY[fixture.agent], fixture.seen.text, "AgentMux", unmarked=False)
    assert found.mark is ScreenState.READY


RECORDED = datetime(2026, 11, 27, tzinfo=UTC)
"""About when the screens were recorded, with a limit that ended four days later."""


@pytest.mark.parametrize("fixture", [each for each in KEPT if each.mark == "limit"], ids=named)
def test_the_time_on_a_recorded_limit_is_understood(fixture: Fixture) -> None:
    said = read(REGISTRY[fixture.agent], fixture.seen.text).resets
    found = reset_time(said, now=RECORDED, zones=lambda _: UTC)
    if said:
        assert found is not None
        assert timedelta(days=3) < found - RECORDED < timedelta(days=5)
    else:
        assert found is None


@pytest.mark.parametrize("agent", CLIS)
def test_the_registry_says_which_screens_were_recorded(agent: str) -> None:
    known = REGISTRY[agent].screens
    ours = [each for each in KEPT if each.agent == agent]
    kinds = {each.kind for each in ours}

    assert known is not None
    assert known.recorded == tuple(kind for kind in SCREENS if kind in kinds)
    assert {each.version for each in ours} <= {known.version}
    assert kinds.isdisjoint(known.none)
    assert set(known.none) <= set(SCREENS)


@pytest.mark.parametrize(("agent", "screen"), sorted({(e.agent, e.screen) for e in KEPT}))
def test_every_screen_is_kept_at_every_width(agent: str, screen: str) -> None:
    widths = sorted(each.cols for each in KEPT if (each.agent, each.screen) == (agent, screen))
    assert widths == sorted(WIDTHS)


def test_no_screen_names_the_machine_that_it_was_recorded_on() -> None:
    machine = re.compile(
        r"/root\b|(?<!\.\.)(?<!/var/tmp/agentmux)/home/|dummy-key|\w+@(?!latest\b)\w+"
    )
    assert [named(each) for each in KEPT if machine.search(each.text)] == []


def test_every_mark_that_an_agent_can_have_was_seen() -> None:
    assert {each.mark for each in KEPT} == {mark.value for mark in ScreenState}
