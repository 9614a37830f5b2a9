"""The server, the session or another phone changes things while a page is open."""

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.web.conftest import Serve
from tests.web.conftest import serve as serve  # noqa: PLC0414 (the fixture, for this folder)
from tests.web_browser.conftest import PHONE, fits, log_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect


def test_a_page_without_its_server_does_not_look_live(
    chromium: "Browser", project: Project, serve: Serve
) -> None:
    server = serve(project)
    name = server.origin.removeprefix("http://").partition(":")[0]
    context = chromium.new_context(viewport=PHONE)
    page = context.new_page()
    log_in(page, server)
    page.get_by_role("link", name="New session").click()
    page.get_by_label("What should be built?").fill("greet people")
    bar, start = page.locator("#state"), page.get_by_role("button", name="Start")
    expect(start).to_be_enabled()

    server.end()
    expect(bar).to_have_text("not connected: what you see may be old")
    expect(start).to_be_disabled()
    page.set_viewport_size({"width": 390, "height": 300})
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(bar).to_be_in_viewport()
    fits(page)

    at = ("--listen", f"127.0.0.1:{server.port}", "--host")
    server = serve(project, *at, name)
    expect(bar).to_contain_text("logged out: open the new link that `agentmux web` printed")
    expect(start).to_be_disabled()
    log_in(again := context.new_page(), server)
    page.bring_to_front()
    expect(bar).to_be_empty()
    expect(start).to_be_enabled()
    assert page.get_by_label("What should be built?").input_value() == "greet people"

    # Its forms are those of the new login.
    page.get_by_label("Agent").select_option("demo")
    page.get_by_label("What should be built?").fill(" ")
    start.click()
    expect(page.locator(".said.bad")).to_be_visible()
    again.close()

    server.end()
    server = serve(project, *at, "other.localhost")
    expect(bar).to_contain_text("this page has another address now:")
    expect(bar.get_by_role("link")).to_have_attribute("href", f"{server.origin}/")
    page.reload()
    fits(page)
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderStyle") == "solid"
    expect(page.get_by_role("link", name=server.origin)).to_be_visible()
    context.close()
