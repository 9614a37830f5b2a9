"""The fleet's pages are kept up to date in a real browser, although no event tells of a change."""

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Project
from tests.web.conftest import Server
from tests.web_browser.conftest import fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect


def test_what_is_submitted_appears_without_loading_again(
    page: "Page", project: Project, server: Server
) -> None:
    own = project.home / "config" / "agentmux"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.yaml").write_text(f"version: 1\nfleet: {{repos: ['{project.path}']}}\n")
    for words in (("init",), ("submit", "greet people")):
        assert project.program("agentmux", "fleet", *words).returncode == 0
    page.goto(f"{server.origin}/fleet")
    expect(page.locator("#fleet")).to_contain_text("greet people")
    page.evaluate("window.untouched = true")
    assert project.program("agentmux", "fleet", "submit", "shout").returncode == 0
    expect(page.locator("#fleet")).to_contain_text("shout")
    assert page.evaluate("window.untouched")
    fits(page)
