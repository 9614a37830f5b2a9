"""What a session needs from its person is in the first screen of its page, on a phone, too."""

import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.web.conftest import Server
from tests.web_browser.conftest import at_each_width, fits

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect

LONG = "Raise a DuplicateKeyError when the same key is set twice in one configuration file, and"
TABS = ("screens", "documents", "diff", "why", "journal", "overview")
_BROKEN = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.checkVisibility()) continue; // it is in a closed part
    if (node.parentElement.closest("dd, code, .terminal, .diff, .said-of, script")) continue;
    for (const found of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const tops = [...range.getClientRects()].map((each) => Math.round(each.top));
      if (new Set(tops).size > 1) broken.push(found[0]);
    }
  }
  return broken;
}"""


def whole(page: "Page") -> None:
    """Check that no word of the page is broken, and that the page is not wider than the window."""
    fits(page)
    for size in at_each_width(page):
        assert page.evaluate(_BROKEN) == [], (page.url, size)


def first_screen(page: "Page", *places: str) -> None:
    """Check that each of these elements, and all of it, is seen without scrolling."""
    for size in at_each_width(page):
        for place in places:
            box = box_of(page.locator(place).first)
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= size["height"], (place, size)
            assert box["x"] + box["width"] <= size["width"], (place, size)


def box_of(element: "Locator") -> "FloatRect":
    """Return where an element is; the page may replace it while it is measured."""
    for _ in range(10):
        expect(element).to_be_visible()
        box = element.bounding_box()
        if box is not None:
            return box
    pytest.fail(f"{element} goes each time it is measured")


def see(page: "Page", server: Server, title: str) -> None:
    page.goto(f"{server.origin}/")
    page.get_by_text(title, exact=True).click()


def test_an_agent_asks_and_another_session_has_the_same_request(
    page: "Page", project: Project, server: Server
) -> None:
    project.config("snapshots: {interval: 0.2s}\n")
    title = f"{LONG} name both lines in its message, and the file, for the people who write it"
    project.scenario({"roles": {"architect": {"dialog": "permission"}}})
    project.start(title)
    other = project.start(title, "--worktree")
    project.ok("stop", other.name)
    rows = page.locator(".sessions li")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("waiting for you")
    whole(page)
    abouts = page.locator(".about").all_inner_texts()
    assert len({re.sub(r"\S+ ago", "", each) for each in abouts}) == 2
    rows.filter(has_text="waiting for you").locator("a").click()
    expect(page.locator("#questions")).to_contain_text("Do you want to proceed?")
    first_screen(page, "#questions .terminal", "#questions .typed", "#questions .keys")
    assert page.evaluate(  # the end of the screen is shown, where the question is
        "(each => each.scrollTop === 0)(document.querySelector('#questions .terminal'))"
    )
    whole(page)

    page.goto(f"{server.origin}/sessions/{other.name}")
    expect(page.locator("#plan")).to_contain_text("It goes on in architecting")
    first_screen(page, "#plan select", "#plan button")
    whole(page)
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator(".said")).to_be_visible()


def test_a_result_is_to_be_decided(page: "Page", project: Project, server: Server) -> None:
    check = 'for n in 1 2 3 4 5 6 7 8 9; do echo "line $n differs"; done; test ! -e demo_part_1.py'
    project.config(
        "snapshots: {interval: 0.2s}\ndefaults: {max_review_iterations: 1}\n"
        f"verify:\n- name: tests\n  run: [sh, -c, '{check}']\n"
    )
    project.start(f"{LONG} name both lines").wait()
    see(page, server, f"{LONG} name both lines")
    expect(page.locator("#decision")).to_contain_text("tests: failed")
    first_screen(
        page, "#decision h2", "#decision pre.lines >> nth=0", "#decision .document",
        "#decision pre.part >> nth=-1", "#decide", "#decide >> text=Approve…",
        "#decide >> text=Ask for changes…",
    )  # fmt: skip
    whole(page)
    page.get_by_text("Ask for changes…").click()
    beginning = page.get_by_label("fixing:")
    expect(beginning).to_be_checked()
    expect(page.locator("#decide")).to_contain_text(
        "fixing: a small change: one coder, then the checks, the reviews and the summary"
    )
    first_screen(page, "#decide textarea")
    whole(page)
    for tab in TABS:
        page.get_by_role("link", name=tab, exact=True).click()
        whole(page)


def test_an_agent_works(page: "Page", project: Project, server: Server) -> None:
    project.config("snapshots: {interval: 0.2s}\n")
    project.scenario({"roles": {"architect": {"think": 3600}}})
    project.start(LONG)
    see(page, server, LONG)
    expect(page.locator("#live .terminal")).to_contain_text("Working")
    first_screen(page, "#live h2", "#live .terminal")
    whole(page)


def test_an_agent_has_left(page: "Page", project: Project, server: Server) -> None:
    project.config("snapshots: {interval: 0.2s}\n")
    project.scenario({"roles": {"architect": {"crash": "before_write", "exit": 0}}})
    project.start(LONG)
    see(page, server, LONG)
    again = page.get_by_role("button", name="Start it again")
    expect(again).to_be_visible()
    first_screen(page, "#restarts h2", "#restarts .terminal", "#restarts .keys")
    whole(page)
