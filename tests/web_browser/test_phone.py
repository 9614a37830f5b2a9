"""Somebody with a phone finds what needs them, decides, and starts a session."""

from typing import TYPE_CHECKING

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.web_browser.test_page import fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect

CHECKED = "snapshots: {interval: 0.2s}\nverify:\n- {name: tests, run: [no-such-program]}\n"


def in_view(page: "Page", words: str) -> None:
    """Check that a button is seen without scrolling."""
    button = page.get_by_role("button", name=words, exact=True)
    expect(button).to_be_visible()
    place = button.bounding_box()
    size = page.viewport_size
    assert place is not None
    assert size is not None
    assert place["y"] + place["height"] <= size["height"]
    assert place["x"] + place["width"] <= size["width"]


def test_three_features_need_their_person(
    page: "Page", project: Project, wait_until: WaitUntil
) -> None:
    """One asks, one fails a check, one waits for a decision; no name of a session is typed."""
    project.config("snapshots: {interval: 0.2s}\n")
    project.scenario({"roles": {"architect": {"dialog": "permission"}}})
    project.start("export a report")
    rows = page.locator(".sessions li")
    expect(rows.filter(has_text="export a report")).to_contain_text("waiting for you")
    project.scenario({"roles": {"planner": {"plan": {"parts": 1}}}})
    decided = project.start("greet people", "--worktree").wait(timeout=120)
    project.config(CHECKED)
    project.start("count the visitors", "--worktree")

    # All of them are found under one heading.
    group = page.locator(".group", has=page.get_by_role("heading", name="needs you"))
    expect(group.locator("li")).to_have_count(3)
    expect(group).to_contain_text("yours to decide")
    fits(page)

    group.get_by_text("count the visitors").click()
    expect(page.locator("#restarts")).to_contain_text("could not run")
    in_view(page, "Go on without it")
    fits(page)
    page.get_by_role("button", name="Go on without it").click()
    expect(page.locator(".said")).to_contain_text("Done:")

    page.get_by_role("link", name="AgentMux").click()
    page.get_by_text("export a report").click()
    expect(page.locator("#questions")).to_contain_text("Do you want to proceed?")
    in_view(page, "Enter")
    page.get_by_role("button", name="Enter", exact=True).click()
    expect(page.locator(".said")).to_contain_text("Done:")

    page.get_by_role("link", name="AgentMux").click()
    page.get_by_text("greet people").click()
    expect(page.locator("#decision .document")).to_contain_text("Every part is there")
    fits(page)

    # A comment on a line of the diff is a part of what is asked for.
    page.get_by_role("link", name="see every change").click()
    page.locator(".diff a.at").first.click()
    fits(page)
    page.locator(".remark textarea").fill("a better name")
    page.get_by_role("button", name="Keep the comment").click()
    expect(page.locator(".remark")).to_contain_text("a better name")
    fits(page)
    page.get_by_role("link", name="Ask for changes").click()
    wish = page.get_by_label("What should change?")
    expect(wish).to_have_value("demo_part_1.py:1: a better name")
    fits(page)
    wish.fill("")

    page.get_by_text("Approve…").click()
    fits(page)
    page.locator("#approve").click()
    expect(page.locator(".said")).to_contain_text("Done:")
    expect(page.locator("#head .label")).to_have_text("done")
    assert decided.kinds("approve") == ["approve"]


def test_a_session_is_started_from_the_page(page: "Page", project: Project) -> None:
    page.get_by_role("link", name="New session").click()
    fits(page)
    page.get_by_label("What should be built?").fill("greet people")
    page.get_by_label("Agent").select_option("demo")
    page.get_by_label("Pipeline").select_option("quick")
    page.get_by_text("More…").click()
    fits(page)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".said")).to_contain_text("has started")
    expect(page.locator("#head")).to_contain_text("greet people")
    expect(page.locator("#decision")).to_contain_text("Your decision")
    assert len(project.sessions()) == 1
