"""A person uses the keys of the page in a real browser: none of them sends anything."""

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.web_browser.conftest import fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect


def test_keys_open_parts_and_go_to_buttons_and_only_enter_decides(
    page: "Page", project: Project
) -> None:
    session = project.start("add a greeting").wait()
    press, origin = page.keyboard.press, page.url
    press("?")
    page.wait_for_url("**/help")
    expect(page.get_by_text("Needs you", exact=True)).to_be_in_viewport()
    expect(page.locator("#keys dl")).to_be_visible()
    fits(page)
    page.goto(origin)
    press("/")
    page.keyboard.type("adc?n")  # letters are text in a field
    expect(page.get_by_label("Search sessions")).to_have_value("adc?n")
    press("Escape")
    press("Control+a")
    press("n")
    page.wait_for_url("**/start")
    page.goto(f"{page.url.removesuffix('start')}sessions/{session.name}")
    for key, place in (("4", "/diff"), ("2", "/screens"), ("d", "/diff"), ("1", session.name)):
        press(key)
        page.wait_for_url(f"**{place}")
    press("c")
    asked = page.get_by_label("What should change?")
    expect(asked).to_be_focused()
    page.keyboard.type("Say so")
    expect(asked).to_have_value("Say so")
    press("Escape")
    press("c")  # what is open stays open
    expect(asked).to_be_focused()
    press("Escape")
    for key in ("x", "t", "R", "r", "w", "u", "y", "z", "Shift+D"):  # nothing here has these
        press(key)
    press("Shift+S")
    expect(page.get_by_role("button", name="Stop this session")).to_be_visible()
    press("a")
    button = page.locator("#approve")
    expect(button).to_be_visible()
    press("a")
    expect(button).to_be_focused()
    assert session.kinds("request_changes", "approve") == []
    press("Enter")
    expect(page.locator(".said")).to_contain_text("Done:")
    assert session.kinds("request_changes", "approve") == ["approve"]
