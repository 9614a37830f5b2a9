"""Somebody with a phone finds what needs them and decides, and many sessions stay usable."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.picker.picker_lab import make_session
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session
from tests.web.conftest import Server, descriptors
from tests.web_browser.conftest import DESK, ON_A_PHONE, PHONE, RARE, at_each_width, fits, log_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect

CHECKED = "snapshots: {interval: 0.2s}\nverify:\n- {name: tests, run: [no-such-program]}\n"


def in_view(page: "Page", words: str) -> None:
    """Check that a button is seen without scrolling."""
    button = page.get_by_role("button", name=words, exact=True)
    for size in at_each_width(page):
        expect(button).to_be_visible()
        place = button.bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= size["height"]
        assert place["x"] + place["width"] <= size["width"]


@ON_A_PHONE
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

    # The list moves once more when the check is gone from it; a click before would miss its row.
    page.get_by_role("link", name="Sessions").click()
    expect(group.get_by_text("yours to decide")).to_have_count(2)
    page.get_by_text("export a report").click()
    expect(page.locator("#questions")).to_contain_text("Do you want to proceed?")
    in_view(page, "Enter")
    page.get_by_role("button", name="Enter", exact=True).click()
    expect(page.locator(".said")).to_contain_text("Sent:")

    page.get_by_role("link", name="Sessions").click()
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
    request = page.get_by_label("What should change?")
    expect(request).to_have_value("demo_part_1.py:1 “# --- sub-plan 1 ---”: a better name")
    fits(page)
    request.fill("")

    page.get_by_text("Approve…").click()
    fits(page)
    page.locator("#approve").click()
    expect(page.locator(".said")).to_contain_text("Done:")
    expect(page.locator("#head .label")).to_have_text("done")
    assert decided.kinds("approve") == ["approve"]


@ON_A_PHONE
def test_a_session_is_started_from_the_page(page: "Page", project: Project) -> None:
    page.get_by_role("link", name="New session").click()
    fits(page)
    page.get_by_label("What should be built?").fill("greet people")
    page.get_by_label("Agent").select_option("demo")
    page.get_by_label("Pipeline").select_option("quick")
    page.get_by_text("More…").click()
    fits(page)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".said")).to_contain_text("Started: session")
    expect(page.locator("#head")).to_contain_text("greet people")
    expect(page.locator("#decision")).to_contain_text("Your decision")
    assert len(project.sessions()) == 1


@ON_A_PHONE
def test_a_message_of_success_goes_once_the_session_needs_its_user(
    page: "Page", project: Project
) -> None:
    project.scenario({"default": {"silent": True}})
    page.get_by_role("link", name="New session").click()
    page.get_by_label("What should be built?").fill("greet people")
    page.get_by_label("Agent").select_option("demo")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".said.ok")).to_contain_text("Started: session")
    Session(project, *project.sessions()).settled("architect")
    panes = project.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    project.tmux("send-keys", "-t", panes[-1], "/exit", "Enter")
    expect(page.locator("#restarts")).to_contain_text("architect")
    expect(page.locator(".said")).to_have_count(0)


@pytest.mark.parametrize("page", [PHONE], ids=["390"], indirect=True)
def test_what_is_tapped_is_as_high_as_a_finger_and_an_open_form_is_whole(
    page: "Page", project: Project, server: Server
) -> None:
    session = project.start("greet people").wait()
    tapped = "footer a, footer button, .brand, select, .target, .files a, #documents a, .diff a.at"
    at = f"{server.origin}/sessions/{session.name}"
    for place in (f"{server.origin}/start", at, f"{at}/diff", f"{at}/documents"):
        page.goto(place)
        fits(page)
        low = page.locator(tapped).evaluate_all(
            "all => all.filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 40)"
            ".map(e => e.outerHTML)"
        )
        assert low == [], place
    page.goto(at)
    colour = "getComputedStyle(e).backgroundColor"
    green = f"all => all.filter(e => {colour} === 'rgb(27, 110, 60)').length"
    buttons = page.locator("#decide summary:visible, #decide button:visible")
    assert buttons.evaluate_all(green) == 1
    page.get_by_text("Approve…").click()
    assert buttons.evaluate_all(green) == 1
    page.get_by_text("Approve…").click()
    page.get_by_text("Ask for changes…").click()
    page.get_by_text("Or earlier…").click()
    form = page.locator("#decide")
    assert form.evaluate("e => e.scrollHeight - e.clientHeight") <= 0
    page.locator("#changes").scroll_into_view_if_needed()
    covered = page.locator("#decision .document").evaluate("e => e.getBoundingClientRect().bottom")
    top = form.evaluate("e => e.getBoundingClientRect().top")
    assert covered <= top


@pytest.mark.rare("it makes a thousand sessions; benchmarks/web.py times the page")
def test_a_thousand_sessions_of_twenty_projects(
    chromium: "Browser", project: Project, server: Server
) -> None:
    """At both widths; the time of the processor counts, since others may use it, too."""
    made = make_session(project.root / "seed", "20260101-100000-seed", feature="seed")
    files = [each.relative_to(made) for each in made.rglob("*") if each.is_file()]
    projects = [project.root / f"shop-{number:02}" for number in range(20)]
    for place in projects:
        for number in range(50):
            name = f"20260101-100000-{place.name}-request-{number:02}"
            link_files(made, files, place / ".agentmux/.sessions" / name)
    register = Path(project.env["XDG_STATE_HOME"]) / "agentmux" / "projects"
    register.parent.mkdir(parents=True, exist_ok=True)
    register.write_text("".join(f"{each}\n" for each in projects))

    context = chromium.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    log_in(page, server)
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        before = server.busy_s()
        page.goto(f"{server.origin}/")
        expect(page.locator(".sessions li")).to_have_count(100)
        expect(page.locator("#sessions")).to_contain_text("interrupted 1000")
        assert server.busy_s() - before < 3
        fits(page)
        page.get_by_label("Search sessions").fill("shop-17 request-42")
        page.keyboard.press("Enter")
        expect(page.locator(".sessions li")).to_have_count(1)
        expect(page.locator(".sessions")).to_contain_text("shop-17")
        fits(page)
        page.locator(".sessions a").click()
        expect(page).to_have_url(re.compile("20260101-100000-shop-17-request-42"))
        fits(page)
    page.goto(f"{server.origin}/")
    page.get_by_text("show 900 older ones, too").click()
    expect(page.locator(".sessions li")).to_have_count(1000)
    fits(page)
    context.close()


def link_files(made: Path, files: list[Path], path: Path) -> None:
    """Make a session with the files of another one: links are made sooner than copies."""
    for each in files:
        (path / each).parent.mkdir(parents=True, exist_ok=True)
        (path / each).hardlink_to(made / each)


def test_the_stream_is_closed_while_the_page_is_hidden(
    page: "Page", project: Project, server: Server, wait_until: WaitUntil
) -> None:
    def watches() -> bool:
        return any("inotify" in each for each in descriptors(server.process.pid))

    def hide(hidden: str) -> None:
        page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )

    wait_until(watches)
    hide("true")
    wait_until(lambda: not watches())
    assert page.evaluate("source") is None
    project.start("add a greeting").wait()
    expect(page.locator("main")).to_contain_text("There are no sessions yet")
    hide("false")
    expect(page.locator(".sessions")).to_contain_text("yours to decide")
    wait_until(watches)


@pytest.mark.parametrize("size", [PHONE, pytest.param(DESK, marks=RARE)], ids=["390", "1280"])
def test_without_its_script_everything_is_read_and_changes_are_asked_for(
    chromium: "Browser", project: Project, server: Server, size: "ViewportSize"
) -> None:
    session = project.start().wait()
    context = chromium.new_context(java_script_enabled=False, viewport=size)
    context.set_default_timeout(60_000)
    page = context.new_page()
    log_in(page, server)
    page.locator(".sessions a").click()
    tabs = {
        "screens": "These are the last ones",
        "documents": "What you asked for",
        "why": "Why it is where it is",
        "journal": "handed",
    }
    for tab, shows in {**tabs, "diff": "demo_part_1.py new, +"}.items():
        page.get_by_role("link", name=tab, exact=True).click()
        expect(page.locator("#session")).to_contain_text(shows)
    page.locator(".diff a.at").first.click()
    page.locator(".remark textarea").fill("a better name")
    page.get_by_role("button", name="Keep the comment").click()
    page.get_by_role("link", name="Ask for changes").click()
    expect(page.get_by_label("fixing:")).to_be_checked()
    page.locator("#changes").click()
    expect(page.locator(".said")).to_contain_text("request-changes: accepted")
    (asked,) = (each for each in session.events if each["event"] == "request_changes")
    assert "a better name" in asked["payload"]["text"]
    context.close()
