"""A person reads, answers and decides in a real browser, as wide as a desk and as a phone."""

from typing import TYPE_CHECKING

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.web.conftest import Server
from tests.web_browser.conftest import fits, log_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

expect = pytest.importorskip("playwright.sync_api", reason="./dev test-web installs it").expect

SCENARIO = {
    "roles": {
        "architect": {"dialog": "permission"},
        "planner": {"silent": "until-told", "plan": {"parts": 2}},
    }
}
EVIL = "<script>window.taken = true</script>"


def test_a_feature_from_its_question_to_its_commit(
    page: "Page", project: Project, server: Server
) -> None:
    expect(page.locator("main")).to_contain_text("There are no sessions yet")
    page.evaluate("window.untouched = true")
    project.scenario(SCENARIO)
    project.config("snapshots: {interval: 0.2s}\n")
    session = project.start(f"add a greeting {EVIL}")

    # The list moves without being loaded again.
    row = page.locator(".sessions li")
    expect(row).to_contain_text("architecting")
    expect(row).to_contain_text("waiting for you")
    assert page.evaluate("window.untouched")
    assert page.title() == "(1) AgentMux"
    fits(page)
    row.click()

    # A question is answered by a button.
    expect(page.locator("#questions")).to_contain_text("Do you want to proceed?")
    fits(page)
    page.get_by_role("button", name="Enter", exact=True).click()
    expect(page.locator(".said")).to_contain_text("Sent: session")
    page.evaluate("window.untouched = true")
    expect(page.locator("#facts")).to_contain_text("planner")
    expect(page.locator("#questions")).not_to_contain_text("Do you want to proceed?")

    # An agent is told something, beside its live screen.
    page.get_by_role("link", name="screens").click()
    told = page.locator("#screen-planner")
    expect(told.locator(".terminal")).to_contain_text("Demo agent")
    told.get_by_text("Tell planner something").click()
    told.get_by_label("Message to planner").fill("go on")
    told.get_by_role("button", name="Send").click()
    expect(page.locator(".said")).to_contain_text("planner has it")
    fits(page)

    # It moves on to the decision under the eyes of the person.
    page.get_by_role("link", name="overview").click()
    page.evaluate("window.untouched = true")
    expect(page.locator("#decision")).to_contain_text("Your decision")
    expect(page.locator("#decision")).to_contain_text("Every part is there")
    assert page.evaluate("window.untouched")
    fits(page)
    page.get_by_role("link", name="see every change").click()
    expect(page.locator(".diff")).to_contain_text("demo_part_1.py new, +")
    fits(page)
    page.get_by_role("link", name="Decide").click()

    # Changes are asked for.
    page.get_by_text("Ask for changes…").click()
    page.get_by_label("What should change?").fill("a friendlier greeting")
    expect(page.get_by_label("fixing:")).to_be_checked()
    page.locator("#changes").click()
    expect(page.locator(".said")).to_contain_text("request-changes: accepted")
    expect(page.locator("#head")).to_contain_text("cycle 2")
    expect(page.locator("#decision")).to_contain_text("Your decision")
    expect(page.locator("#decision")).to_contain_text("You asked for:\na friendlier greeting")

    # The result is approved, and the commit is there.
    page.get_by_text("Approve…").click()
    page.locator("#approve").click()
    expect(page.locator(".said")).to_contain_text("Done:")
    expect(page.locator("#head .label")).to_have_text("done")
    commit = project.git("rev-parse", "HEAD").strip()
    expect(page.locator("#facts")).to_contain_text(commit)
    fits(page)
    assert session.kinds("request_changes", "approve") == ["request_changes", "approve"]
    page.get_by_role("link", name="journal").click()
    expect(page.locator("#journal")).to_contain_text("approved")
    assert page.evaluate("window.taken") is None


def test_what_is_typed_stays_while_the_page_moves(
    page: "Page", project: Project, wait_until: WaitUntil
) -> None:
    session = project.start().wait()
    page.goto(f"{page.url}sessions/{session.name}")
    page.get_by_text("Ask for changes…").click()
    page.get_by_label("What should change?").fill("half a sent")
    told = page.evaluate("document.querySelectorAll('#facts details').length")
    project.ok("stop", session.name)
    expect(page.locator("#head .label")).to_have_text("decide (stopped)")
    expect(page.get_by_label("What should change?")).to_have_value("half a sent")
    assert told == 1


def test_a_live_screen_moves(page: "Page", project: Project) -> None:
    project.scenario({"roles": {"architect": {"dialog": "permission"}}})
    project.config("snapshots: {interval: 1h}\n")
    session = project.start()
    page.goto(f"{page.url}sessions/{session.name}/screens")
    screen = page.locator("#screen-architect .terminal")
    expect(screen).to_contain_text("\u276f 1. Yes")
    panes = project.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_current_command}")
    for line in panes.splitlines():
        project.tmux("send-keys", "-t", line.split()[0], "Down")
    expect(screen).to_contain_text("\u276f 2. No")


def test_without_its_script_the_page_decides_as_well(
    chromium: "Browser", project: Project, server: Server
) -> None:
    session = project.start().wait()
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    log_in(page, server)
    page.locator(".sessions a").click()
    page.get_by_text("Approve…").click()
    page.locator("#approve").click()
    expect(page.locator(".said")).to_contain_text("Done:")
    session.wait("done")
    context.close()


@pytest.mark.rare("it waits for seven pages; tests/web counts streams")
def test_seven_tabs_at_once(page: "Page", project: Project, server: Server) -> None:
    """Browsers open six connections to a host: one stream for each tab would stop the seventh."""
    tabs = [page, *(page.context.new_page() for _ in range(6))]
    for tab in tabs[1:]:
        tab.goto(f"{server.origin}/")
    project.start("add a greeting").wait()
    for tab in tabs:
        expect(tab.locator(".sessions")).to_contain_text("yours to decide")
    streams = [tab.evaluate("source === null ? 0 : 1") for tab in tabs]
    assert sum(1 for each in streams if each) == 1
    # The tab that listens is closed: another one takes over.
    listening = next(tab for tab, count in zip(tabs, streams, strict=True) if count)
    listening.close()
    project.ok("approve", "--yes")
    for tab in (each for each in tabs if each is not listening):
        expect(tab.locator(".sessions .label")).to_have_text("done")


# -- what must fail ------------------------------------------------------------------------------


def test_a_browser_without_a_cookie_sees_nothing(chromium: "Browser", server: Server) -> None:
    context = chromium.new_context()
    page = context.new_page()
    answer = page.goto(f"{server.origin}/")
    assert answer is not None
    assert answer.status == 401
    context.close()


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/"])
def test_another_name_of_the_same_port_sees_nothing(page: "Page", server: Server, url: str) -> None:
    other = page.context.new_page()
    answer = other.goto(url.format(port=server.port))
    assert answer is not None
    assert answer.status == 421


def test_a_spent_link_logs_nobody_in(page: "Page", chromium: "Browser", server: Server) -> None:
    context = chromium.new_context()
    other = context.new_page()
    other.goto(server.link)
    expect(other.locator("main")).to_contain_text("This link is used up")
    context.close()


def test_another_site_sends_no_form(page: "Page", project: Project, server: Server) -> None:
    """A page of another origin has the form, and even its token; the browser sends our cookie not
    at all, or with the other origin."""
    session = project.start().wait()
    page.goto(f"{server.origin}/sessions/{session.name}")
    token = page.locator("#decision input[name=token]").first.get_attribute("value")
    digest = page.locator("#decision input[name=digest]").first.get_attribute("value")
    other = page.context.new_page()
    other.route(
        "http://evil.localhost/",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f"<form method=post action='{server.origin}/sessions/{session.name}/approve'>"
            f"<input name=token value='{token}'><input name=digest value='{digest}'>"
            "<button>win</button></form>",
        ),
    )
    other.goto("http://evil.localhost/")
    with other.expect_navigation() as gone:
        other.get_by_role("button").click()
    assert gone.value.status in {401, 403}
    assert session.kinds("approve") == []


def test_a_program_on_another_port_gets_no_cookie(page: "Page", server: Server) -> None:
    """Cookies ignore ports: what listens at another port of `localhost` must not get ours."""
    other = page.context.new_page()
    seen: list[str] = []

    def answer(route: object) -> None:
        seen.append(str(route.request.headers.get("cookie")))  # type: ignore[attr-defined]
        route.fulfill(body="x")  # type: ignore[attr-defined]

    other.route("http://localhost:3000/", answer)
    other.goto("http://localhost:3000/")
    assert seen == ["None"]
