"""The server, the session or another phone changes things while a page is open."""

import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.web.conftest import Serve
from tests.web.conftest import serve as serve  # noqa: PLC0414 (the fixture, for this folder)
from tests.web_browser.conftest import PHONE, fits, log_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect


def test_the_list_is_searched_while_typing_and_its_running_rows_keep_their_order(
    chromium: "Browser", project: Project, serve: Serve
) -> None:
    project.scenario({"default": {"silent": True}})
    first, second = (project.start(each, "--worktree") for each in ("greet people", "count them"))
    context = chromium.new_context(viewport=PHONE)
    log_in(page := context.new_page(), serve(project))
    rows = page.locator(".sessions li")
    expect(rows.nth(0)).to_contain_text("count them")
    project.ok("stop", second.name)
    project.ok("resume", second.name, "--detach")
    os.utime(first.path / "state.json")
    expect(page.locator("#sessions")).not_to_contain_text("interrupted")
    expect(rows.nth(0)).to_contain_text("count them")
    expect(rows.nth(1)).to_contain_text("greet people")

    page.get_by_label("Search sessions").press_sequentially("greet")
    expect(rows).to_have_count(1)
    expect(page.locator("#sessions")).to_contain_text("1 of 2")
    expect(page.get_by_label("Search sessions")).to_be_focused()
    page.get_by_role("link", name="show all").click()
    expect(rows).to_have_count(2)

    # Ages grow while nothing happens.
    rows.nth(0).click()
    age = page.locator("#head [data-age]")
    before = age.text_content()
    expect(age).not_to_have_text(str(before))
    context.close()


def test_a_message_goes_with_what_it_spoke_of_and_leaves_its_space(
    chromium: "Browser", project: Project, serve: Serve
) -> None:
    session = project.start("add a greeting", "--quick").wait()
    project.ok("stop", session.name)
    context = chromium.new_context(viewport=PHONE)
    log_in(page := context.new_page(), serve(project))
    page.get_by_text("add a greeting").click()
    project.ok("resume", session.name, "--detach")
    session.wait()
    expect(page.locator("#head .label")).to_have_text("yours to decide")
    page.get_by_text("Stop…").click()
    page.get_by_role("button", name="Stop this session").click()
    message = page.locator(".said")
    expect(message).to_be_visible()
    expect(page).not_to_have_url(re.compile("said="))
    head = page.locator("#head").bounding_box()
    project.ok("resume", session.name, "--detach")
    expect(page.locator("#head .label")).to_have_text("yours to decide")
    expect(message).to_be_hidden()
    assert page.locator("#head").bounding_box() == head
    page.reload()
    expect(message).to_have_count(0)
    context.close()


def test_what_was_typed_comes_back_after_a_log_in(
    chromium: "Browser", project: Project, serve: Serve
) -> None:
    context = chromium.new_context(viewport=PHONE)
    log_in(page := context.new_page(), server := serve(project))
    page.get_by_role("link", name="New session").click()
    page.get_by_label("Agent").select_option("demo")
    page.get_by_label("What should be built?").fill("greet people")
    context.clear_cookies()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("main")).to_contain_text("this browser is not logged in")
    server.end()
    log_in(page, serve(project))
    page.get_by_role("link", name="New session").click()
    expect(page.get_by_label("What should be built?")).to_have_value("greet people")
    page.get_by_label("Agent").select_option("demo")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".said.ok")).to_be_visible()
    page.goto(page.url.partition("/sessions")[0] + "/start")
    expect(page.get_by_label("What should be built?")).to_have_value("")
    context.close()


def test_a_session_that_is_removed_is_gone_from_its_page_at_once(
    chromium: "Browser", project: Project, serve: Serve
) -> None:
    session = project.start("add a greeting", "--quick").wait()
    context = chromium.new_context(viewport=PHONE)
    log_in(page := context.new_page(), serve(project))
    page.get_by_text("add a greeting").click()
    page.get_by_text("Approve…").click()
    expect(page.locator("#approve")).to_be_enabled()
    project.ok("stop", session.name)
    project.ok("remove", "--yes", session.name)
    bar = page.locator("#state")
    expect(bar).to_contain_text("this session was removed.")
    expect(page.locator("#approve")).to_be_disabled()
    bar.get_by_role("link", name="See all sessions.").click()
    expect(page.locator("main")).to_contain_text("There are no sessions yet")
    context.close()


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
