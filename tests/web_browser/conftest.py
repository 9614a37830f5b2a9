"""A real Chromium, the system's own, and a page that it is logged in at."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.e2e.conftest import project as project  # noqa: PLC0414 (the fixture, for this folder)
from tests.web.conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

ARGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESK: "ViewportSize" = {"width": 1280, "height": 900}
PHONE: "ViewportSize" = {"width": 390, "height": 844}
RARE = pytest.mark.rare("CI clicks at one width, and measures at both")
ON_A_PHONE = pytest.mark.parametrize(
    "page", [PHONE, pytest.param(DESK, marks=RARE)], ids=["390", "1280"], indirect=True
)
"""Marks a test of which CI runs the narrow form."""
CHROMIUM = os.environ.get("AGENTMUX_TEST_CHROMIUM") or shutil.which("chromium") or ""


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """The system's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it")
    if not CHROMIUM:
        pytest.skip("there is no chromium on PATH: ./dev test-web installs it where it may")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGS))
        playwright.expect.set_options(timeout=60_000)
        yield browser
        browser.close()


@pytest.fixture
def server(project: Project) -> Iterator[Server]:
    made = Server(project)
    yield made
    assert made.end() < 20


@pytest.fixture(params=[DESK, pytest.param(PHONE, marks=RARE)], ids=["1280", "390"])
def page(chromium: "Browser", server: Server, request: pytest.FixtureRequest) -> Iterator["Page"]:
    """A page in a browser that has spent the login link; it fails at an error of the script."""
    context = chromium.new_context(viewport=request.param)
    context.set_default_timeout(60_000)
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda asked: _require_ours(asked.url, server.origin, wrong))
    log_in(opened, server)
    yield opened
    context.close()
    assert wrong == []


def log_in(page: "Page", server: Server) -> None:
    """Spend the login link of a server, as a person does."""
    page.goto(server.link)
    page.get_by_role("button", name="Log this browser in").click()
    page.wait_for_url(f"{server.origin}/")


def at_each_width(page: "Page") -> Iterator["ViewportSize"]:
    """Give the page each size in turn; it ends with the one that it had."""
    before = page.viewport_size
    assert before is not None
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        yield size
    page.set_viewport_size(before)


def fits(page: "Page") -> None:
    """Check that the page fits into a window of each width."""
    page.wait_for_load_state("load")
    for size in at_each_width(page):
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, (page.url, size)


def _require_ours(url: str, origin: str, wrong: list[str]) -> None:
    if not url.startswith(f"{origin}/"):
        wrong.append(f"asked another host: {url}")
