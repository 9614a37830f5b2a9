"""A session is started from the page, under the rules of the command."""

import html
import re
from typing import Any

import pytest

from agentmux.web.pages.reading import project_key
from tests.e2e.conftest import Project, Session
from tests.web.conftest import Page
from tests.web.test_pages import EVIL, field, no_markup, said

pytestmark = pytest.mark.long


def begin(page: Page, text: str, **fields: str) -> Any:
    """Send the form for a new session."""
    return page.post(
        "/start", None, **{"in": project_key(page.project.path), "text": text, **fields}
    )


def refused(page: Page, answer: Any) -> str:
    """Return why nothing was started; the form is there again with what was written."""
    assert answer.status_code == 200, answer.text
    no_markup(answer.text)
    found = re.search(r'<div class="said bad[^>]*>(.*?)</div>\n<section', answer.text, re.DOTALL)
    assert found is not None, answer.text
    assert page.project.sessions() == []
    return html.unescape(" ".join(re.sub("<[^>]*>", " ", found[1]).split()))


@pytest.mark.long
@pytest.mark.parametrize(
    "feature", [f"add a greeting {EVIL}", "@/etc/hostname", "--name x\nsecond"]
)
def test_a_session_is_started_with_any_text(page: Page, feature: str) -> None:
    assert 'href="/start"' in page.text("/")
    form = page.text("/start")
    no_markup(form)
    assert field(form, "in") == project_key(page.project.path)
    assert '<option value="demo">demo: scripted, works offline' in form
    assert '<option value="quick">quick: ' in form
    answer = begin(page, feature, agent="demo", pipeline="quick", place="worktree")
    assert said(page, answer).startswith("Started: session ")
    (path,) = page.project.sessions()
    session = Session(page.project, path).wait()
    assert session.name in answer.headers["location"]
    assert session.state["feature"] == feature
    assert session.state["worktree"]
    assert page.project.json("status")["sessions"][0]["pipeline"] == "quick"


def test_what_the_first_start_would_ask_is_refused(page: Page) -> None:
    """Which agent plays the roles; what was written stays."""
    assert " required" not in page.text("/start")  # the browser would name the agent first
    answer = begin(page, f"add a greeting {EVIL}")
    words = refused(page, answer)
    assert "no configuration says which agent plays the roles" in words
    assert "agentmux --project" not in words  # the form has the choice
    assert f"{html.escape(f'add a greeting {EVIL}', quote=False)}</textarea>" in answer.text
    page.project.config("defaults: {agent: demo}\n")
    assert "as configured" in page.text("/start")
    assert said(page, begin(page, "add a greeting")).startswith("Started: session ")


@pytest.mark.parametrize("agent", ["sh", "/bin/sh", "nosuch", "shell", EVIL])
def test_only_an_agent_that_is_offered_is_started(page: Page, agent: str) -> None:
    """The command takes any program as an agent."""
    words = refused(page, begin(page, "add a greeting", agent=agent))
    assert "is installed here" in words
    assert "agentmux agents" in words


def test_what_a_project_would_run_is_not_trusted_by_a_button(page: Page) -> None:
    page.project.config("verify: [{name: tests, run: [touch, ran]}]\n", trusted=False)
    words = refused(page, begin(page, "add a greeting", agent="demo"))
    assert words.startswith("Not done: ")
    assert f"agentmux --project {page.project.path} trust --show" in words
    assert not (page.project.path / "ran").exists()


@pytest.mark.rare("tests/app/commands refuses the same")
@pytest.mark.long
def test_a_checkout_that_is_taken_is_not_shared(page: Page) -> None:
    first = page.project.start()
    answer = begin(page, "another", agent="demo", place="no-worktree")
    assert "Not done:" in answer.text
    assert first.name in answer.text
    first.wait()
    page.project.ok("stop", first.name)
    # The command would ask whether to start beside a session that is not done.
    answer = begin(page, "another", agent="demo", place="no-worktree")
    assert "another unfinished session began in this checkout" in answer.text
    assert len(page.project.sessions()) == 1


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"agent": "nobody"}, "nobody"),
        ({"agent": "demo", "pipeline": "none"}, "none"),
        ({"agent": "demo", "pipeline": "a\0b"}, "a\ufffdb"),
        ({"agent": "demo", "issue": "7"}, "Not done"),
        ({"agent": "demo", "text": "  "}, "the request is missing: say what should be built"),
        ({"text": ""}, "the request is missing"),
        ({"agent": "--yes", "pipeline": "--help"}, "Not done"),
    ],
)
def test_what_the_command_refuses_is_refused(page: Page, fields: dict[str, str], says: str) -> None:
    assert says in refused(page, begin(page, **{"text": "add a greeting", **fields}))


def test_the_project_is_chosen_first(page: Page, project: Project) -> None:
    other = project.root / "other"
    other.mkdir()
    register = project.home / "state" / "agentmux" / "projects"
    register.parent.mkdir(parents=True, exist_ok=True)
    register.write_text(f"{project.path}\n{other}\n{project.root / 'gone'}\n")
    keys = re.findall(r'href="/start\?in=(\w+)"', page.text("/start"))
    assert keys == [project_key(project.path), project_key(other)]
    assert f"in {other}" in page.text(f"/start?in={keys[1]}")
    assert page.browser.get("/start?in=nothing").status_code == 404
    assert page.post("/start", None, **{"in": "../x", "text": "x"}).status_code == 404
