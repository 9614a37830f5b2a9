"""Who may see the page and send its forms; each test fails when its check is removed."""

import pytest

from agentmux.web.guard import PageAddress, PageRequest, check_token, check_visit
from tests.e2e.conftest import Project
from tests.web.conftest import HOST, ORIGIN, Page

pytestmark = pytest.mark.long

PAGES = (
    *("/", "/start", "/sessions/x", "/sessions/x/screens", "/sessions/x/documents"),
    *("/sessions/x/diff", "/sessions/x/login/y", "/sessions/x/documents/login/a.md"),
    *("/sessions/x/static/y", "/fleet/static/x", "/x/login/"),
    *("/sessions/x/documents/a.md", "/sessions/x/why", "/sessions/x/journal", "/events"),
    *("/api/sessions", "/api/sessions/x", "/api/sessions/x/screens"),
)
FORMS = (
    *("approve", "request-changes", "answer", "tell", "resume", "reattach", "restart", "stop"),
    *("unpark", "comment", "skip"),
)


def test_without_a_cookie_nothing_is_shown(lone: Page) -> None:
    for path in PAGES:
        answer = lone.browser.get(path)
        assert answer.status_code == 401, path
        assert "not logged in" in answer.text


@pytest.mark.parametrize(
    "cookie",
    ["agentmux=", "agentmux=x", "agentmux=deadbeefdeadbeefdeadbeefdeadbeef", "session=1; csrf=2"],
)
def test_a_cookie_of_another_port_lets_nobody_in(lone: Page, cookie: str) -> None:
    """Browsers send to all ports of a host what one of them has set."""
    lone.login()
    other = lone.new_browser()
    assert other.get("/", headers={"cookie": cookie}).status_code == 401


def test_our_cookie_counts_beside_one_of_the_same_name(lone: Page) -> None:
    lone.login()
    ours = lone.browser.cookies["agentmux"]
    cookies = {"cookie": f"agentmux=of-another-port; agentmux={ours}; other"}
    assert lone.new_browser().get("/", headers=cookies).status_code == 200


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(lone: Page) -> None:
    answer = lone.browser.post(f"/login/{lone.sign_in.link()}")
    words = {each.strip().lower() for each in answer.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=lax", "path=/"} <= words
    assert not any(each.startswith("domain") for each in words)


FOREIGN = (
    *("evil.example", "localhost:4321", "127.0.0.1:4321", "agentmux-0123456789.localhost"),
    *("agentmux-0123456789.localhost:80", "x.agentmux-0123456789.localhost:4321", ""),
    *(f"{HOST}0", f"{HOST}.evil.example", f"{HOST}@evil.example", HOST[:-1]),
)


@pytest.mark.parametrize("path", ["/", "/login/x", "/static/web.js"])
def test_a_foreign_host_gets_nothing(lone: Page, path: str) -> None:
    lone.login()
    assert lone.browser.get(path).status_code in {200, 410}
    for host in FOREIGN:
        assert lone.browser.get(path, headers={"host": host}).status_code == 421, host


def test_a_page_at_another_host_leads_to_the_address(lone: Page) -> None:
    """Who kept an old address gets on; the style sheet is the only other thing that is there."""
    answer = lone.browser.get("/sessions/x", headers={"host": FOREIGN[-1]})
    assert f'href="{ORIGIN}/"' in answer.text
    assert 'href="/"' not in answer.text.partition("<main>")[2]
    assert lone.browser.get("/static/web.css", headers={"host": FOREIGN[-1]}).status_code == 200
    assert lone.browser.post("/static/web.css", headers={"host": FOREIGN[-1]}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "null", "", f"https://{HOST}", "http://localhost:4321"),
        "http://agentmux-0123456789.localhost:5555",
    ],
)
def test_a_foreign_origin_sends_no_form(lone: Page, origin: str) -> None:
    lone.login()
    form = {"token": lone.token}
    assert lone.browser.post("/link", data=form).status_code == 200
    refused = lone.browser.post("/link", data=form, headers={"origin": origin})
    assert refused.status_code == 403
    assert "another site" in refused.text


def test_a_foreign_origin_spends_no_link(lone: Page) -> None:
    link = f"/login/{lone.sign_in.link()}"
    assert lone.browser.post(link, headers={"origin": "http://evil.example"}).status_code == 403
    assert lone.browser.post(link).status_code == 303


@pytest.mark.parametrize("token", ["", "x", None])
def test_a_form_without_our_token_does_nothing(lone: Page, token: str | None) -> None:
    lone.login()
    forms = (f"/sessions/x/{name}" for name in FORMS)
    for form in (*forms, "/link", "/logout", "/start", "/fleet/drain", "/fleet/x/cancel"):
        answer = lone.browser.post(form, data={} if token is None else {"token": token})
        assert answer.status_code == 403, form
        assert "load the page again" in answer.text
    assert lone.browser.get("/").status_code == 200


def test_without_a_login_no_token_is_right() -> None:
    """Not even that of a browser that has none."""
    asked = PageRequest(
        address=PageAddress(scheme="http", host=HOST), method="POST", path="/start", host=HOST,
        origin=ORIGIN, cookies=(), login=None, form={"token": ""},
    )  # fmt: skip
    assert check_token(asked) is not None
    assert check_visit(asked) is not None


def test_the_token_of_another_browser_does_not_count(lone: Page) -> None:
    lone.login()
    token = lone.token
    lone.browser = lone.new_browser()
    lone.login()
    assert lone.browser.post("/link", data={"token": token}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(lone: Page, method: str) -> None:
    lone.login()
    assert lone.browser.request(method, "/").status_code == 405


def test_forms_are_no_links(lone: Page) -> None:
    lone.login()
    for form in FORMS:
        assert lone.browser.get(f"/sessions/x/{form}").status_code in {404, 405}, form


def test_a_read_only_page_takes_no_form(shared: Project) -> None:
    page = Page(shared, read_only=True).login()
    for form in FORMS:
        answer = page.post(f"/sessions/x/{form}")
        assert answer.status_code == 403
        assert "read-only" in answer.text
    for path in ("/link", "/start", "/fleet/drain", "/fleet/x/cancel"):
        assert page.post(path).status_code == 403
    assert page.browser.get("/start").status_code == 403
    assert page.browser.get("/").status_code == 200


def test_every_answer_has_the_headers_that_keep_scripts_out(lone: Page) -> None:
    lone.login()
    paths = ("/", "/nothing", "/sessions/x", "/static/web.js", "/login/x", "/api/sessions")
    for answer in (*map(lone.browser.get, paths), lone.new_browser().get("/")):
        policy = dict(
            each.strip().split(" ", 1)
            for each in answer.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["form-action"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]


def test_pages_are_not_kept_by_the_browser(lone: Page) -> None:
    lone.login()
    assert lone.browser.get("/").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/%00", "/fleet/%00", "/sessions/%00", "/static/%00", "/a%00/b"])
def test_no_page_has_a_zero_byte_in_its_address(lone: Page, path: str) -> None:
    assert lone.browser.get(path).status_code in {401, 404}
    lone.login()
    answer = lone.browser.get(path)
    assert answer.status_code == 404
    assert "there is no such page" in answer.text
    assert lone.post(f"{path}/approve", digest="x").status_code == 404


def test_a_form_that_is_too_large_is_refused(lone: Page) -> None:
    lone.login()
    answer = lone.post("/link", text="x" * (1 << 19))
    assert answer.status_code == 413


# -- login links --------------------------------------------------------------------------------


def test_a_link_is_spent_once(lone: Page) -> None:
    link = f"/login/{lone.sign_in.link()}"
    assert lone.browser.post(link).status_code == 303
    other = lone.new_browser()
    answer = other.post(link)
    assert answer.status_code == 410
    assert "set-cookie" not in answer.headers
    assert other.get("/").status_code == 401


def test_a_preview_does_not_spend_a_link(lone: Page) -> None:
    link = f"/login/{lone.sign_in.link()}"
    for _ in range(3):
        answer = lone.browser.get(link)
        assert answer.status_code == 200
        assert "set-cookie" not in answer.headers
        assert lone.browser.head(link).status_code == 200
    assert lone.browser.get("/").status_code == 401
    assert lone.browser.post(link).status_code == 303
    assert lone.browser.get("/").status_code == 200


def test_a_link_is_too_old_after_ten_minutes(lone: Page) -> None:
    early, late = (f"/login/{lone.sign_in.link()}" for _ in range(2))
    lone.clock.now_s += 599
    assert lone.browser.post(early).status_code == 303
    lone.clock.now_s += 2
    assert lone.browser.get(late).status_code == 410
    assert lone.new_browser().post(late).status_code == 410


def test_a_browser_is_logged_out_after_thirty_days(lone: Page) -> None:
    lone.login()
    lone.clock.now_s += 30 * 86_400 + 1
    assert lone.browser.get("/").status_code == 401


def test_a_browser_that_logs_out_is_forgotten(lone: Page) -> None:
    lone.login()
    assert "Logged out" in lone.post("/logout").text
    assert lone.browser.get("/").status_code == 401


def test_a_new_link_logs_another_browser_in(lone: Page) -> None:
    lone.login()
    shown = lone.post("/link").text
    link = shown.partition(f"{ORIGIN}/login/")[2].partition("<")[0]
    other = lone.new_browser()
    assert other.post(f"/login/{link}").status_code == 303
    assert other.get("/").status_code == 200
    assert lone.browser.get("/").status_code == 200
