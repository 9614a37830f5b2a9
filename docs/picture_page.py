"""Pictures of the web page, in a real Chromium: one for each width."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from docs.picture_stage import Stage, StageError

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS: Final = {"1280": (1280, 800), "390": (390, 844)}
_ARGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)

_TEXTS: Final = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  window.texts = []
  while (walk.nextNode()) window.texts.push(walk.currentNode)
  return window.texts.map(each => each.data)
}"""
_WRITE: Final = "told => window.texts.forEach((each, at) => { each.data = told[at] })"


def chromium() -> str | None:
    """Return the path of the browser; None if this machine has none."""
    return os.environ.get("AGENTMUX_TEST_CHROMIUM") or shutil.which("chromium")


@contextmanager
def served(stage: Stage) -> Iterator[str]:
    """Serve the page; yield the link that logs one browser in."""
    server = subprocess.Popen(
        ("agentmux", "web"),
        cwd=stage.home / "shop",
        env=stage.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None  # noqa: S101 (for mypy)
        link = server.stdout.readline().strip()
        if not link:
            raise StageError("agentmux web did not start")
        yield link
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def browsers(link: str) -> Iterator[dict[str, Page]]:
    """Yield a page that is logged in for each width; without its script, so that it stays."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=list(_ARGS))
        first = browser.new_context()
        opened = first.new_page()
        opened.goto(link)
        opened.get_by_role("button", name="Log this browser in").click()
        state = first.storage_state()
        made = {}
        for name, (width, height) in WIDTHS.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, storage_state=state
            )
            context.route("**/*.js", lambda route: route.abort())
            made[name] = context.new_page()
        yield made
        browser.close()


def shot(
    page: Page, address: str, word: str, same: Callable[[str], str], *, whole: bool = False
) -> bytes:
    """Return the picture of what the window shows of an address, which has this word.

    With ``whole``, it is that of the whole page.
    """
    page.goto(address)
    page.get_by_text(word).first.wait_for()
    page.evaluate(_WRITE, [same(each) for each in page.evaluate(_TEXTS)])
    # Named, since the types of Playwright are missing where it is not installed.
    made: bytes = page.screenshot(animations="disabled", caret="hide", full_page=whole)
    return made
