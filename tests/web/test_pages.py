"""The pages of real sessions, over HTTP without a browser: what they show, and what forms do."""

import html
import json
import os
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.core.codec.digests import screen_digest
from agentmux.core.names.layout import COMPLETION
from agentmux.errors import NotFoundError
from agentmux.web.pages.pages import diff_lines
from agentmux.web.pages.reading import ProjectSessions
from agentmux.wiring import build
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project, Session
from tests.web.conftest import Page

pytestmark = pytest.mark.long

EVIL = "<script>alert(1)</script>"
ASKING = {"roles": {"architect": {"dialog": "permission"}, "planner": {"plan": {"parts": 1}}}}


def field(text: str, name: str) -> str:
    """Return the value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found is not None, text
    return found[1]


def said(page: Page, answer: object) -> str:
    """Return what a form's command said, as the page after it shows it."""
    assert answer.status_code == 303, answer.text  # type: ignore[attr-defined]
    text = page.text(answer.headers["location"])  # type: ignore[attr-defined]
    found = re.search(r'<div class="said[^>]*>(.*?)</div>', text, re.DOTALL)
    assert found is not None, text
    return " ".join(re.sub("<[^>]*>", " ", found[1]).split())


def no_markup(text: str) -> None:
    """Check that a page has no element, attribute or script but those of the templates."""
    assert "<script>" not in text
    assert text.count("<script src=") == text.count("<script") == 2
    assert "javascript:" not in text.lower().replace("](javascript:", "")
    assert not re.search(r"<[a-z]+[^>]* on\w+=", text)
    assert "<img" not in text
    assert " style=" not in text


@pytest.mark.long
def test_sessions_are_listed_by_what_they_need(page: Page) -> None:
    assert "There are no sessions yet" in page.text("/")
    session = page.project.start(f"add a greeting {EVIL}").wait()
    stopped = page.project.start("fix the typo", "--worktree").name
    page.project.ok("stop", stopped)
    text = page.text("/")
    assert re.findall(r"<h2>([a-z ]+?) <", text) == ["needs you", "interrupted"]
    assert f'href="/sessions/{session.name}"' in text
    assert "yours to decide" in text
    assert "<title>(1) AgentMux</title>" in text
    no_markup(text)
    assert stopped not in page.text("/?q=greeting")
    assert session.name in page.text("/?q=greeting")
    assert "No session is about" in page.text("/?q=%3Cscript%3E-nothing")


@pytest.mark.long
def test_json_is_that_of_the_commands(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    answers = {
        "/api/sessions": ("list",),
        f"/api/sessions/{session.name}": ("status", session.name),
        f"/api/sessions/{session.name}/screens": ("show", session.name),
    }
    for path, words in answers.items():
        mine, theirs = page.browser.get(path).json(), page.project.json(*words)
        for each in (*mine["sessions"], *theirs["sessions"]):
            each.pop("age_s", None)
            for seat in each.get("seats", ()):
                seat.pop("age_s", None)
        assert mine == theirs
    page.project.git("switch", "-qc", "other")
    (mine,) = page.browser.get(f"/api/sessions/{session.name}").json()["sessions"]
    # Who asks a page is in no project's directory.
    assert f"`agentmux --project {page.project.path} approve` says" in mine["problems"][0]
    wrong = page.browser.get("/api/sessions/none").json()
    assert wrong["problems"][0]["message"] == "there is no session `none`"


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_a_result_that_failed_a_check_is_named_and_shown_with_the_output(page: Page) -> None:
    # It passes on the base, which has no worktree, and fails on the result.
    check = 'echo "1150 is not 1250 {EVIL}"; test -d "$AGENTMUX_WORKTREE"'.replace("{EVIL}", EVIL)
    page.project.config(
        "defaults: {max_review_iterations: 1}\n"
        f"verify: [{{name: tests, run: [sh, -c, {json.dumps(check)}]}}]\n"
    )
    session = page.project.start("fix the typo", "--quick").wait()
    assert "decide: check failed" in page.text("/")
    assert "decide: check failed" in page.text(f"/sessions/{session.name}")
    assert "decide: check failed, updated" in page.project.ok("status", session.name)
    text = page.text(f"/sessions/{session.name}")
    assert "decide: check failed" in text[: text.index('<nav class="tabs"')]
    assert "1150 is not 1250" in text[text.index("<h2>Checks</h2>") :]
    assert "did not pass" in text
    no_markup(text)


def test_a_result_is_read_and_approved(page: Page) -> None:
    session = page.project.start("add a greeting").wait()
    text = page.text(f"/sessions/{session.name}")
    assert "Every part is there" in text
    assert "Approve to commit 2 files on main: " in text
    assert "on branch main\nto be committed: 2 files" in text
    digest = field(text[text.index("/approve") :], "digest")
    assert digest == page.project.json("status")["sessions"][0]["decision"]["digest"]
    no_markup(text)
    diff = page.text(f"/sessions/{session.name}/diff")
    assert re.search(
        r'<div class="line added" id="l\d+"><a class="at" href="[^"]*">\d+</a>\+', diff
    )
    jumps = dict(re.findall(r'<a href="#(f\d+)">([^<]+)</a>', diff))
    assert [*jumps.values()] == ["demo_part_1.py", "tests/test_demo_part_1.py"]
    assert dict(re.findall(r'<h2 class="path" id="(f\d+)">(\S+) ', diff)) == jumps
    assert "diff --git" not in diff
    assert "+++" not in diff
    screens = page.text(f"/sessions/{session.name}/screens")
    assert "No agent has a screen now. These are the last ones." in screens
    assert 'id="screen-architect"' in screens
    listed = re.findall(
        r'/documents/([^"]+)">([^<]+)<', page.text(f"/sessions/{session.name}/documents")
    )
    assert listed[0] == ("requirements.md", "What you asked for")
    assert ("04_planning/plan.yaml", "Plan") in listed

    (page.project.path / "demo_part_1.py").write_text("changed = True\n")
    late = page.post(f"/sessions/{session.name}/approve", digest=digest)
    assert "Not done: session" in (words := said(page, late))
    assert "is not what was shown" in words
    assert session.state["phase"] == "completing"

    digest = field(page.text(f"/sessions/{session.name}"), "digest")
    words = said(page, page.post(f"/sessions/{session.name}/approve", digest=digest))
    assert words.startswith("Done: ")
    session.wait("done")
    commit = page.project.git("rev-parse", "HEAD").strip()
    assert commit in page.text(f"/sessions/{session.name}")
    assert f"committed {commit[:12]} on main" in page.text(f"/sessions/{session.name}")
    assert "approve" not in field(page.text(f"/sessions/{session.name}"), "token")


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_where_an_approval_takes_the_result_is_chosen(page: Page) -> None:
    remote = page.project.root / "remote"
    page.project.git("init", "-q", "--bare", str(remote))
    page.project.git("remote", "add", "origin", str(remote))
    session = page.project.start("add a greeting", "--worktree").wait()
    text = page.text(path := f"/sessions/{session.name}")
    ways = re.findall(r'name="way" value="(\w+)"( checked)?', text)
    assert ways == [("keep", " checked"), ("merge", ""), ("push", "")]
    digest = field(text[text.index("/approve") :], "digest")
    words = said(page, page.post(f"{path}/approve", digest=digest, way="push"))
    assert words.startswith("Done: ")
    session.wait("done")
    assert session.state["branch"] in page.project.git("ls-remote", "--heads", "origin")


def test_a_form_that_does_not_say_what_was_shown_decides_nothing(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    for form in ("approve", "request-changes", "answer"):
        words = said(page, page.post(f"/sessions/{session.name}/{form}", text="x", digest=""))
        assert words == "Not done: the form does not say what was shown", form
    assert session.kinds("approve", "request_changes") == []


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_changes_are_asked_for_with_any_text(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    text = page.text(f"/sessions/{session.name}")
    digest = field(text[text.index("/request-changes") :], "digest")
    assert 'name="from" value="fixing" checked>' in text
    secret = page.project.root / "secret"
    secret.write_text("it is secret")
    request = f"@{secret}\n--from nowhere <b>"
    form: dict[str, str] = {"text": request, "digest": digest, "from": "fixing"}
    answer = page.post(f"/sessions/{session.name}/request-changes", None, **form)
    assert said(page, answer) == "Sent: request-changes: accepted"
    session.wait("decision")
    (asked,) = (each for each in session.events if each["event"] == "request_changes")
    assert asked["payload"]["text"].strip() == request
    assert asked["payload"]["phase"] == "fixing"


def test_a_decision_that_was_sent_is_not_offered_again(page: Page) -> None:
    """The lock of a session without an orchestrator is held, as by one that has not applied it."""
    session = page.project.start("add a greeting", "--quick").wait()
    page.project.ok("stop", session.name)
    path = f"/sessions/{session.name}"
    digest = field((text := page.text(path))[text.index("/request-changes") :], "digest")
    lock = SessionLock(session.path)
    lock.acquire(10, {"pid": os.getpid()})
    try:
        form: dict[str, str] = {"text": "a better name", "digest": digest, "from": "fixing"}
        assert said(page, page.post(f"{path}/request-changes", None, **form)).startswith("Sent: ")
        assert 'class="label ">your decision is taken<' in page.text("/")
        text = page.text(path)
        assert "your decision is taken" in text
        assert f'action="{path}/approve' not in text
        assert f'action="{path}/request-changes' not in text
    finally:
        lock.release()
    assert "will be applied at the next resume" in page.text(path)


def test_the_number_of_a_line_is_that_in_its_file_whatever_the_file_is_called() -> None:
    diff = ("--- a/a (b): 1.py", "+++ b/a (b): 1.py", "@@ -7 +8 @@", "-was", "+is")
    assert [each.number for each in diff_lines(diff)] == ["", "", "", "7", "8"]


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_a_fix_of_a_merge_conflict_needs_no_text(page: Page) -> None:
    session = page.project.start("add a greeting", "--worktree").wait()
    path = f"/sessions/{session.name}"
    assert 'rows="3" required>' in page.text(path)
    (name,) = (each.name for each in Path(session.state["worktree"]).glob("demo_*.py"))
    (page.project.path / name).write_text("mine\n")
    page.project.git("add", name)
    page.project.git("commit", "-qm", "Mine")
    page.project.fails(1, "approve", session.name, "--yes", "--merge")
    text = page.text(path)
    assert 'rows="3">' in text
    assert "a fix resolves the merge conflict" in text
    digest = field(text[text.index("/request-changes") :], "digest")
    form: dict[str, str] = {"text": "", "digest": digest}
    elsewhere = page.post(f"{path}/request-changes", None, **form, **{"from": "planning"})
    assert said(page, elsewhere).startswith("Not done: ")
    fixed = page.post(f"{path}/request-changes", None, **form, **{"from": "fixing"})
    assert said(page, fixed) == "Sent: request-changes: accepted"
    session.wait("fixing").wait()
    assert f"Merge conflict in {name}" in session.read("07_review/fix_request.md")


@pytest.mark.long
def test_comments_on_lines_of_the_diff_become_part_of_the_request(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    path = f"/sessions/{session.name}"
    lines = re.findall(r'id="l(\d+)"', page.text(f"{path}/diff"))
    assert 'name="place"' not in page.text(f"{path}/diff")
    places = [field(page.text(f"{path}/diff?at={line}"), "place") for line in lines[:3]]
    assert all(re.fullmatch(r"\w+\.py:\d+( \(removed\))?", each) for each in places)
    forms = [page.text(f"{path}/diff?at={line}") for line in lines[:3]]
    shown = [html.unescape(field(each, "said")) for each in forms]
    for place, line, at, text in zip(
        places, lines[:3], shown, (EVIL, "two\nlines", "wrong"), strict=True
    ):
        kept = page.post(f"{path}/comment", place=place, line=line, said=at, text=text)
        assert kept.headers["location"] == f"{path}/diff#l{line}"
    no_markup(diff := page.text(f"{path}/diff"))
    assert "3 comments go with your request for changes" in diff
    assert "two\nlines" in diff
    page.post(f"{path}/comment", place=places[2], line=lines[2], text="wrong", remove="1")
    assert "2 comments go" in page.text(f"{path}/diff")

    no_markup(text := page.text(path))
    begun = re.search(r'rows="3" required>\n(.*?)</textarea>', text, re.DOTALL)
    assert begun is not None
    request = html.unescape(begun[1])
    quoted = [f" “{each[1:].strip()}”" if each[1:].strip() else "" for each in shown]
    assert any(quoted)
    assert request == f"{places[0]}{quoted[0]}: {EVIL}\n{places[1]}{quoted[1]}: two\n  lines"
    digest = field(text[text.index("/request-changes") :], "digest")
    form: dict[str, str] = {"text": request, "digest": digest, "from": "fixing"}
    assert said(page, page.post(f"{path}/request-changes", None, **form)).startswith("Sent: ")
    (asked,) = (each for each in session.events if each["event"] == "request_changes")
    assert asked["payload"]["text"].strip() == request
    assert "with your request" not in page.text(f"{path}/diff")


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_comments_stay_when_the_request_fails_and_are_limited(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    path = f"/sessions/{session.name}"
    for number in range(200):
        kept = page.post(f"{path}/comment", place=f"a.py:{number}", line=str(number), text="x")
        assert "said=" not in kept.headers["location"]
    lost = page.post(f"{path}/comment", place="", line="1", text="x")
    assert "the form names no line" in said(page, lost)
    kept = page.post(f"{path}/comment", place="b.py:1", line="1", text="x")
    assert "there are too many comments" in said(page, kept)
    failed = page.post(f"{path}/request-changes", text="x", digest="0" * 16)
    assert said(page, failed).startswith("Not done: ")
    assert "200 comments go" in page.text(f"{path}/diff")


def doing(session: Session, seat: str) -> str:
    written = (session.path / "runtime_state.json").exists()
    seats = session.runtime.get("statuses", {}) if written else {}
    return str(seats.get(seat, {}).get("status"))


@pytest.mark.long
def test_a_question_is_answered_by_a_button(page: Page, wait_until: WaitUntil) -> None:
    page.project.scenario(ASKING)
    session = page.project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 20)
    path = f"/sessions/{session.name}"
    text = page.text(path)
    assert "architect asks" in text
    assert "Do you want to proceed?" in text
    digest = field(text[text.index("/answer") :], "digest")
    assert digest != screen_digest("")

    stale = page.post(f"{path}/answer", seat="architect", digest="0" * 16, key="Enter")
    assert "its screen has changed" in said(page, stale)
    assert doing(session, "architect") == "waiting_for_user"
    answer = page.post(f"{path}/answer", seat="architect", digest=digest, key="Enter")
    assert said(page, answer).startswith("Sent: ")
    session.wait("decision")


@pytest.mark.long
def test_an_agent_is_told_something(page: Page, wait_until: WaitUntil) -> None:
    page.project.scenario({"roles": {"planner": {"silent": "until-told", "plan": {"parts": 1}}}})
    session = page.project.start().until_seat("planner").settled("planner")
    wait_until(lambda: doing(session, "planner") == "idle", 20)
    path = f"/sessions/{session.name}"
    assert "Tell planner something" in page.text(f"{path}/screens")
    told = page.post(f"{path}/tell", seat="planner", text="--go on\nnow", back="screens")
    assert told.headers["location"].startswith(f"{path}/screens?said=")
    assert "planner has it" in said(page, told)
    session.wait("decision")
    (event,) = (each for each in session.events if each["event"] == "seat_told")
    assert event["payload"]["text"] == "--go on\nnow"


@pytest.mark.long
def test_a_session_that_waits_for_the_end_of_a_limit_goes_on_at_a_button(
    page: Page, wait_until: WaitUntil
) -> None:
    page.project.scenario({"roles": {"architect": {"limit": 36000}}})
    session = page.project.start()
    path = f"/sessions/{session.name}"
    wait_until(lambda: ">Go on now</button>" in page.text(path), 60, lambda: page.text(path))
    # It takes no message now, so none is offered.
    assert "Tell architect something" not in page.text(path) + page.text(f"{path}/screens")
    assert said(page, page.post(f"{path}/unpark")).startswith("Done: ")
    wait_until(lambda: session.kinds("limits_lifted"), 60, lambda: str(session.events[-3:]))
    assert page.project.json("status", session.name)["sessions"][0]["status"] != "unknown"


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
@pytest.mark.long
def test_a_stopped_session_is_resumed(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    path = f"/sessions/{session.name}"
    assert said(page, page.post(f"{path}/stop")).startswith("Done: ")
    text = page.text(path)
    assert ">Resume</button>" in text
    assert "It goes on in completing" in text
    assert "resumes in completing" in page.text(f"{path}/why")
    assert said(page, page.post(f"{path}/resume")).startswith("Resumed: ")
    session.wait("decision")
    assert ">Resume</button>" not in page.text(path)


@pytest.mark.long
def test_a_resume_shows_its_plan_and_does_what_was_chosen_for_a_seat(page: Page) -> None:
    page.project.scenario({"roles": {"architect": {"think": 600}}})
    session = page.project.start().settled("architect")
    path = f"/sessions/{session.name}"
    assert said(page, page.post(f"{path}/stop")).startswith("Done: ")
    shown = page.text(path)
    no_markup(shown)
    (offered,) = re.findall(r'<select name="seat:architect">(.*?)</select>', shown, re.DOTALL)
    options = re.findall(r'<option value="(\w+)=(\w+)"( selected)?>([^<]*)<', offered)
    assert [(name, picked, words) for name, _, picked, words in options] == [
        ("planned", " selected", "its conversation comes back"),
        ("fresh", "", "begins a new conversation"),
        ("shell", "", "a shell for you instead of its agent"),
        ("stopped", "", "stays stopped until you choose in its pane"),
    ]
    digests = {name: digest for name, digest, _, _ in options}
    assert page.post(f"{path}/resume", None, **{"seat:architect": f"shell={digests['shell']}"})
    session.until_seat("architect")
    assert session.state["seats"]["architect"]["mode"] == "shell"

    # What was shown is not what is there by now, so nothing starts by itself.
    assert said(page, page.post(f"{path}/stop")).startswith("Done: ")
    assert page.post(f"{path}/resume", None, **{"seat:architect": f"planned={digests['fresh']}"})
    session.until_seat("architect", "stopped")


@pytest.mark.long
def test_a_page_that_is_only_read_shows_the_plan_without_a_form(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    page.project.ok("stop", session.name)
    with closing(Page(page.project, read_only=True).login()) as reader:
        shown = reader.text(f"/sessions/{session.name}")
    assert "It goes on in completing" in shown
    assert f"{session.name}/resume" not in shown


@pytest.mark.long
def test_the_journal_has_a_line_for_an_event_and_all_its_values(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    request = "use orjson, and say in the README why it is worth another dependency"
    page.project.ok("request-changes", request, "--from", "fixing", "--session", session.name)
    text = page.text(f"/sessions/{session.name}/journal")
    line, _, after = text[text.index("asked for changes") :].partition("</summary>")
    assert "phase=fixing" in line
    assert "orjson" not in line
    assert f"text={request}" in after.partition("</details>")[0]


@pytest.mark.long
def test_what_agents_wrote_runs_nothing(page: Page) -> None:
    """A script in the feature, the summary, a document, a file and a screen is text."""
    evil = (
        f"# T\n\n{EVIL}\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1))\n\n"
        f"![i](http://evil.example/x.png)\n\n[b](https://example.org)\n\n`{EVIL}`\n"
    )
    session = page.project.start(f"{EVIL} <b onclick=alert(1)>x</b>").wait()
    (session.path / COMPLETION / "summary.md").write_text(evil)
    (session.path / COMPLETION / "more.yaml").write_text(evil)
    (page.project.path / "evil.py").write_text(f"{EVIL}\x1b[31m\n")
    path = f"/sessions/{session.name}"
    documents = page.text(f"{path}/documents")
    assert "more.yaml" in documents
    pages = (
        *("/", path, f"{path}/screens", f"{path}/diff", f"{path}/why", f"{path}/journal"),
        *(f"{path}/documents/{COMPLETION}/{name}" for name in ("summary.md", "more.yaml")),
        *(f"/?q={EVIL}", f"/sessions/{EVIL}"),
    )
    for each in pages:
        text = page.browser.get(each).text
        no_markup(text)
        assert "\x1b" not in text
        assert "\x9b" not in text
    assert "&lt;script&gt;" in page.text(path)
    assert 'rel="noreferrer noopener nofollow"' in page.text(path)
    assert "&lt;script&gt;" in page.text(f"{path}/diff")


@pytest.mark.long
def test_what_a_screen_shows_runs_nothing(page: Page, wait_until: WaitUntil) -> None:
    page.project.scenario(ASKING)
    session = page.project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 20)
    page.project.ok("stop", session.name)
    snapshot = session.path / "snapshots" / "architect.json"
    fields = json.loads(snapshot.read_text())
    fields["ansi"] = f"\x1b[31m{EVIL}\x1b]8;;javascript:alert(1)\x07x\x1b[0m\n\x9b31m{EVIL}"
    snapshot.write_text(json.dumps({**fields, "agent": EVIL}))
    text = page.text(f"/sessions/{session.name}/screens")
    no_markup(text)
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3
    assert "\x1b" not in text
    assert "\x9b" not in text


def test_only_documents_of_the_session_are_shown(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    (page.project.path / "secret.md").write_text("it is secret")
    (session.path / COMPLETION / "link.md").symlink_to(page.project.path / "secret.md")
    outside = page.project.root / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("it is secret")
    (session.path / "folder").symlink_to(outside)
    names = (
        *("../../../secret.md", "..%2f..%2f..%2fsecret.md", "link.md", "state.json", "folder/x.md"),
        "/etc/passwd",
    )
    for path in (f"{place}{name}" for name in names for place in ("", f"{COMPLETION}/")):
        answer = page.browser.get(f"/sessions/{session.name}/documents/{path}")
        assert answer.status_code == 404, path
        assert "secret" not in answer.text.replace("secret.md", "")


@pytest.mark.parametrize("name", ["%2e%2e%2fx", "none", "a%2Fb", "x%00y", ".agentmux"])
def test_a_session_that_is_not_there(lone: Page, name: str) -> None:
    lone.login()
    for part in ("", "/diff", "/why"):
        assert lone.browser.get(f"/sessions/{name}{part}").status_code == 404


@pytest.mark.parametrize("name", ["..", "../x", ".", ""])
def test_a_name_leads_to_no_other_folder(lone: Page, name: str) -> None:
    home = lone.project.path / ".agentmux" / ".sessions"
    home.mkdir(parents=True, exist_ok=True)
    for folder in (home, home.parent, home.parent / "x"):
        folder.mkdir(exist_ok=True)
        (folder / "state.json").touch()
    sessions = ProjectSessions(
        lambda: (lone.project.path,),
        lambda path: build.site(path, config=None, environ=lone.project.env),
        lambda path: build.world(path, environ=lone.project.env),
    )
    with pytest.raises(NotFoundError):
        sessions.find(name)
    shutil.rmtree(home.parent)


@pytest.mark.long
def test_a_session_that_cannot_be_read_is_shown(page: Page) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    page.project.ok("stop", session.name)
    for each in ("state.json", "state.backup.json", "tool_events.jsonl"):
        (session.path / each).write_text("{ nothing") if (session.path / each).exists() else None
    assert "unreadable" in page.text("/")
    for part in ("", "/screens", "/documents", "/why"):
        assert "unreadable" in page.text(f"/sessions/{session.name}{part}")
    for part in ("/diff", "/journal"):
        assert page.browser.get(f"/sessions/{session.name}{part}").status_code in {200, 500}


@pytest.mark.long
def test_sessions_of_the_same_name_in_two_projects(page: Page, project: Project) -> None:
    session = page.project.start("add a greeting", "--quick").wait()
    page.project.ok("stop", session.name)
    other = project.root / "other"
    shutil.copytree(project.path, other, ignore=shutil.ignore_patterns("wake.fifo"))
    register = project.home / "state" / "agentmux" / "projects"
    register.parent.mkdir(parents=True, exist_ok=True)
    register.write_text(f"{project.path}\n{other}\n")
    found = re.findall(rf'href="(/sessions/{session.name}\?in=\w+)"', page.text("/"))
    assert len(set(found)) == 2
    assert page.browser.get(f"/sessions/{session.name}").status_code == 404
    shown = [page.text(each) for each in found]
    assert sum(str(other) in each for each in shown) == 1
    assert all(re.search(r'action="[^"]*\?in=\w+"', each) for each in shown)


@pytest.mark.long
def test_screens_are_live_through_one_client(page: Page, wait_until: WaitUntil) -> None:
    page.project.scenario({**QUICK, **ASKING})
    page.project.config("snapshots: {interval: 1h}\n")
    session = page.project.start().until_seat("architect")
    path = f"/sessions/{session.name}/screens"
    # The session's own looks do not help: the next one may be an hour away.
    wait_until(lambda: "Do you want to proceed?" in page.text(path))
    clients = "#{client_flags}"
    for _ in range(3):
        page.text(path)
    (flags,) = page.project.tmux("list-clients", "-F", clients).splitlines()
    assert {"control-mode", "no-output", "ignore-size"} <= set(flags.split(","))
    (pane,) = (
        line.split()[0]
        for line in page.project.tmux(
            "list-panes", "-a", "-F", "#{pane_id} #{@agentmux_seat}#{@agentmux_role}"
        ).splitlines()
        if line.endswith("architect")
    )
    page.project.tmux("send-keys", "-t", pane, "Down")
    wait_until(lambda: "\u276f 2. No" in page.text(path), 5)
    page.screens.close()
    wait_until(lambda: not page.project.tmux("list-clients"), 5)


ODD_NAMES = (b"not-utf8-\xff.txt", "turned-\u202egnp.txt".encode(), b"escape-\x1b[31m.txt")


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
def test_names_that_no_page_can_show_as_they_are_do_no_harm(page: Page) -> None:
    session = page.project.start("add a greeting").wait()
    for name in ODD_NAMES:
        Path(os.fsdecode(os.fsencode(page.project.path) + b"/" + name)).write_text("new\n")
    paths = ("/", f"/sessions/{session.name}", f"/sessions/{session.name}/diff")
    texts = [page.text(path) for path in paths]
    assert not any(char in text for text in texts for char in "\u202e\x1b\udcff")
    assert "turned-\ufffdgnp.txt" in texts[1]
    api = page.browser.get(f"/api/sessions/{session.name}")
    assert (api.status_code, api.json()["sessions"][0]["session"]) == (200, session.name)
    digest = field(texts[1][texts[1].index("/approve") :], "digest")
    page.post(f"/sessions/{session.name}/approve", digest=digest)
    session.wait("done")
    assert "not-utf8-" in page.project.git("show", "--stat", "--format=%H", "HEAD")


@pytest.mark.rare("tests/web_browser and tests/app do the same; CI decides here by two other forms")
def test_a_branch_that_is_no_utf8_has_a_page(page: Page) -> None:
    page.project.git("checkout", "-qb", os.fsdecode(b"odd-\xff-branch"))
    session = page.project.start("add a greeting").wait()
    assert "odd-\ufffd-branch" in page.text(f"/sessions/{session.name}")
    assert "odd-\ufffd-branch" in page.project.ok("status", session.name)
    for path in ("/api/sessions", f"/api/sessions/{session.name}"):
        assert page.browser.get(path).json()["sessions"][0]["session"] == session.name
