"""Older sessions are found, shown, imported once, and then run like any other."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.conftest import QUICK, Project, Session

RARE = pytest.mark.rare("tests/app/commands/test_sessions_without_a_record.py has a table of them")

pytestmark = pytest.mark.long

NAME = "20250101-101500-add-a-greeting"
AT = "2025-01-01T10:20:00Z"
ARCHITECTURE = {"02_architecting/architecture.md": "# Architecture\n\nOne module.\n"}
EXECUTION_PLAN = json.dumps(
    {
        "version": 1,
        "needs_design": False,
        "groups": [
            {
                "group_id": "g",
                "mode": "serial",
                "plans": [{"index": 1, "name": "One", "file": "plan_1.md"}],
            }
        ],
    }
)
REVIEWED = {
    **ARCHITECTURE,
    "04_planning/execution_plan.yaml": EXECUTION_PLAN,
    "04_planning/plan_1.md": "# One\n",
    "06_implementation/done_1": "",
    "07_review/review_logic.yaml": "verdict: pass\nsummary: Good.\n",
    "08_completion/summary.md": "# What was done\n",
}


def older(
    project: Project,
    state: Mapping[str, Any],
    left: Mapping[str, str],
    *,
    journal: str | None = None,
    applied: int | None = None,
) -> Session:
    """Write the files of an older version: state and artifacts, maybe a journal and a cursor."""
    project.config("defaults: {agent: demo, session_name: team}\n")
    session = Session(project, project.path / ".agentmux" / ".sessions" / NAME)
    for path, text in {**left, "state.json": json.dumps(state)}.items():
        (session.path / path).parent.mkdir(parents=True, exist_ok=True)
        (session.path / path).write_text(text)
    if journal is not None:
        (session.path / "tool_events.jsonl").write_text(journal)
    if applied is not None:
        (session.path / "tool_event_state.json").write_text(json.dumps({"applied_offset": applied}))
    return session


def line(kind: str, payload: Mapping[str, Any] | None = None, **more: Any) -> str:
    fields = {"v": 1, "id": kind, "at": AT, "event": kind, "seat": "user", "launch": ""}
    return json.dumps({**fields, "payload": payload or {}, **more}) + "\n"


def foreseen(session: Session) -> dict[str, Any]:
    """Return the plan of a dry run, and check that it changes nothing."""
    before = session.project.tree()
    (found,) = session.project.json("resume", "--dry-run", session.name)["sessions"]
    assert session.project.tree() == before
    return dict(found)


def kept(session: Session) -> list[str]:
    """Return the texts of the old journals that an import has kept."""
    return [path.read_text() for path in sorted(session.path.glob("tool_events.imported-*.jsonl"))]


@RARE
@pytest.mark.follows("import it: agentmux resume …")
def test_a_phase_and_some_artifacts_are_enough(project: Project) -> None:
    session = older(project, {"phase": "failed"}, ARCHITECTURE)

    (listed,) = project.json("list")["sessions"]
    assert (listed["session"], listed["phase"], listed["live"]) == (NAME, "failed", False)
    plan = foreseen(session)
    assert (plan["phase"], plan["state_phase"], plan["state_source"]) == (
        "planning", "failed", "state.json",
    )  # fmt: skip
    assert [pane["seat"] for pane in plan["panes"]] == ["planner"]
    assert plan["unapplied_events"] == 0
    (said,) = [each for each in plan["warnings"] if "makes no commit" in each]
    assert "has an older format" in said
    assert "no session" not in project.fails(5, "approve", session.name, "--yes")

    assert f"warning: {said}\n" in project.run("resume", session.name, "--detach").stderr
    session.wait()
    project.ok("stop", session.name)
    assert said in foreseen(session)["warnings"]  # also after the import it makes no commit
    project.ok("resume", session.name, "--detach")
    session.wait()
    assert session.kinds()[:3] == ["journal_created", "session_imported", "resumed"]
    first, imported = session.events[:2]
    state = session.state
    assert state["journal_id"] == first["payload"]["journal_id"]
    assert imported["payload"]["state"]["phase"] == "failed"
    assert state["session_id"] == imported["payload"]["state"]["session_id"] != ""
    assert state["session_name"] == "team"
    assert session.launched()[0] == "planner"
    assert kept(session) == []
    assert session.approve().state["phase"] == "done"
    # It is imported only once.
    assert session.kinds("session_imported") == ["session_imported"]


def test_what_prompts_name_is_there_after_an_import(project: Project) -> None:
    project.scenario({"roles": {"planner": {"silent": True}}})
    session = older(project, {"phase": "failed", "feature": "add a greeting"}, ARCHITECTURE)
    project.ok("resume", session.name, "--detach")
    session.until_seat("planner").settled("planner")
    launch = session.state["seats"]["planner"]["launch"]
    prompt = session.read(f"launches/{launch}/prompt.md")
    for name in ("context.md", "requirements.md"):
        assert str(session.path / name) in prompt
    assert session.read("requirements.md") == "add a greeting\n"
    assert str(session.path) in session.read("context.md")
    assert (session.path / "context.md").stat().st_mode & 0o777 == 0o600


SILENT = {"silent": True}
RESEARCH = {
    "03_research/code-auth/prompt.md": "# Find out\n\nHow do we log in? Write both files.\n",
}


@RARE
@pytest.mark.parametrize("more", [{}, {"03_research/code-auth/request.md": "# auth\n\nHow?\n"}])
def test_the_prompt_of_research_under_way_is_used_as_it_lies_there(
    project: Project, more: Mapping[str, str]
) -> None:
    project.scenario({"roles": {"architect": SILENT, "code-researcher": SILENT}})
    state = {"phase": "architecting", "research_tasks": {"auth": "dispatched"}}
    session = older(project, state, {**RESEARCH, **more})
    for words in (("--detach",), ("--detach", "--fresh")):
        project.ok("resume", session.name, *words)
        seat = "code-researcher-auth"
        session.until_seat(seat)
        launch = session.state["seats"][seat]["launch"]
        ((path, text),) = RESEARCH.items()
        assert session.read(path) == text
        prompt = session.read(f"launches/{launch}/prompt.md")
        assert text in prompt
        assert "agentmux submit research-done --topic auth" in prompt
        assert "The question:" not in prompt
        assert "request.md" not in prompt
        project.ok("stop", session.name)


def test_research_without_a_prompt_gets_one(project: Project) -> None:
    project.scenario({"roles": {"architect": SILENT, "code-researcher": SILENT}})
    state = {"phase": "architecting", "research_tasks": {"auth": "dispatched"}}
    asked = {"03_research/code-auth/request.md": "# auth\n\nHow do we log in?\n"}
    session = older(project, state, asked)
    project.ok("resume", session.name, "--detach")
    session.until_seat("code-researcher-auth")
    text = session.read("03_research/code-auth/prompt.md")
    assert "The question:\n\n> How do we log in?\n" in text
    assert "agentmux submit research-done --topic auth" in text


def test_what_an_older_session_says_of_itself_is_kept(project: Project) -> None:
    project.scenario({"roles": {"planner": {"silent": True}}})
    left = {**ARCHITECTURE, "requirements.md": "Greet *people*.\n", "context.md": "# Ours\n"}
    session = older(project, {"phase": "failed"}, left)
    project.ok("resume", session.name, "--detach")
    session.until_seat("planner").settled("planner")
    assert session.read("requirements.md") == "Greet *people*.\n"
    assert session.read("context.md") == "# Ours\n"
    assert session.state["feature"] == "Greet *people*."


def test_an_older_session_that_never_kept_its_request_says_so(project: Project) -> None:
    project.scenario({"roles": {"planner": {"silent": True}}})
    session = older(project, {"phase": "failed"}, ARCHITECTURE)
    project.ok("resume", session.name, "--detach")
    session.until_seat("planner").settled("planner")
    assert "not kept" in session.read("requirements.md")
    assert session.state["feature"] == ""


@pytest.mark.parametrize("failed", [False, True])
def test_lines_that_were_not_applied_are_folded(project: Project, failed: bool) -> None:
    state: dict[str, Any] = {"phase": "completing", "feature": "add a greeting"}
    if failed:
        state |= {"phase": "failed", "interruption": {"cause": "x", "phase": "completing"}}
    journal = line("request_changes", {"text": "Say hello in French."})
    session = older(project, state, REVIEWED, journal=journal)
    plan = foreseen(session)
    assert (plan["phase"], plan["unapplied_events"]) == ("architecting", 1)

    project.ok("resume", session.name, "--detach")
    session.wait()
    assert session.kinds()[:2] == ["journal_created", "session_imported"]
    assert kept(session) == [journal]
    assert session.state["cycle"] == 2
    assert session.read("history/1.0/08_completion/changes.md") == "Say hello in French."
    assert session.read("history/1.0/02_architecting/architecture.md")
    assert session.launched()[0] == "architect"


def test_the_cursor_file_tells_where_an_older_journal_goes_on(project: Project) -> None:
    project.scenario({"roles": {**QUICK["roles"], "architect": {"silent": True}}})
    applied = line("request_changes", {"text": "First."}, id="first")
    open_ = line("request_changes", {"text": "Second."}, id="second", cycle=2)
    state = {"phase": "completing", "cycle": 2, "feature": "add a greeting"}
    size = len(applied.encode())
    session = older(project, state, REVIEWED, journal=applied + open_, applied=size)
    assert foreseen(session)["unapplied_events"] == 1

    project.ok("resume", session.name, "--detach")
    session.until_seat("architect")
    assert session.state["cycle"] == 3
    assert session.read("history/2.0/08_completion/changes.md") == "Second."
    assert not (session.path / "history" / "1.0").exists()
    assert kept(session) == [applied + open_]


def test_lines_of_an_older_form_are_taken_or_passed_over(project: Project) -> None:
    """A line without a version counts if it has all other fields; if not, it is skipped."""
    project.scenario({"roles": {**QUICK["roles"], "architect": {"silent": True}}})
    asked = json.loads(line("request_changes", {"text": "Mend it."}))
    del asked["v"]
    odd = [
        {"event": "submit_review", "role": "logic"},
        {**asked, "event": "pane_closed"},
        {"ts": 12, "tool": "submit_done"},
        {},
    ]
    journal = "".join(json.dumps(each) + "\n" for each in (*odd, asked))
    session = older(project, {"phase": "completing"}, REVIEWED, journal=journal)
    plan = foreseen(session)
    assert (plan["phase"], plan["unapplied_events"]) == ("architecting", 1)
    assert len([each for each in plan["warnings"] if "a line was skipped" in each]) == len(odd)

    said = project.run("resume", session.name, "--detach")
    assert said.returncode == 0, said.stderr
    told = [each for each in said.stderr.splitlines() if "a line was skipped" in each]
    assert len(told) == len(odd)
    session.until_seat("architect")
    assert session.state["cycle"] == 2
    assert kept(session) == [journal]


@RARE
def test_without_a_readable_state_older_lines_are_no_obstacle(project: Project) -> None:
    session = older(project, {"phase": "failed"}, ARCHITECTURE, journal='{"tool": "x"}\n')
    (session.path / "state.json").unlink()
    plan = foreseen(session)
    assert (plan["phase"], plan["state_source"]) == ("planning", "none")
    project.ok("resume", session.name, "--detach")
    session.wait()
    assert kept(session) == ['{"tool": "x"}\n']


@pytest.mark.parametrize("more", [{"v": 3}, {"event": "agent_teleported"}])
def test_lines_of_a_newer_version_stop_an_older_session_too(
    project: Project, more: dict[str, Any]
) -> None:
    session = older(project, {"phase": "failed"}, ARCHITECTURE, journal=line("approve", **more))
    before = project.tree()
    for words in (["resume", "--dry-run"], ["resume", "--detach"]):
        assert "update agentmux" in project.fails(5, *words, session.name)
    assert project.tree() == before
    assert not project.processes()
