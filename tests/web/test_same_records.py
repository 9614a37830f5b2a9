"""Each form of the page leaves the same records as the command that it runs."""

import json
import os
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project, Session, make_root
from tests.web.conftest import Page
from tests.web.test_pages import doing, said

pytestmark = pytest.mark.long

RARE = pytest.mark.rare("CI goes from a question to a commit")
_CHANGING = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "TIME"),
    (r"\d{8}-\d{6}-", "STAMP-"),
    (r"\b[0-9a-f]{12,}\b", "HEX"),
)
"""What is another one in each session: ids, times, digests of texts with these."""

_SOONER_OR_LATER = {"checkpoint_taken", "prompt_reached", "artifacts_archived"}
"""Events of the orchestrator that may come before or after those of agents, or not at all."""

Do = Callable[..., None]


def records(session: Session) -> list[str]:
    """Return the lines of a journal up to the last decision, without what always differs."""
    events = session.events
    last = max(at for at, each in enumerate(events) if each["seat"] == "user" or _is_end(each))
    kept = [each for each in events[: last + 1] if each["event"] not in _SOONER_OR_LATER]
    lines = [json.dumps({**each, **_unlike(each)}, sort_keys=True) for each in kept]
    text = "\n".join(lines).replace(str(session.project.root), "ROOT")
    for pattern, word in _CHANGING:
        text = re.sub(pattern, word, text)
    return text.split("\n")


def _unlike(event: dict[str, Any]) -> dict[str, Any]:
    """Return what is left out of an event: how an agent is launched depends on its pace."""
    launch: dict[str, Any] = {"payload": {}} if event["event"] == "agent_launched" else {}
    return {"at": "", "id": "", **launch}


def _is_end(event: dict[str, Any]) -> bool:
    return event["event"] in {"commit_made", "seat_restarted", "limits_lifted"}


def commands(project: Project) -> Do:
    """Return what does as a person does who types."""

    def do(session: Session, form: str, **fields: str) -> None:
        name, text = session.name, fields.get("text", "")
        question = screen(session, fields["seat"]) if form == "answer" else ""
        seat = ("--role", fields["seat"]) if "seat" in fields else ()
        shown = ("--digest", digest(session)) if form in {"approve", "request-changes"} else ()
        words: dict[str, tuple[str, ...]] = {
            "approve": (
                "approve",
                "--yes",
                "--leave-nested",
                "--leave-commits",
                "--bring-back",
                *shown,
                name,
            ),
            "request-changes": (
                *("request-changes", "--session", name, "--from", fields.get("from", "")),
                *(*shown, text),
            ),
            "answer": ("answer", *seat, "--screen", question, name, "Enter"),
            "tell": ("tell", *seat, name, text),
            "restart": ("restart", *seat, name),
            "unpark": ("unpark", name),
            "stop": ("stop", name),
            "resume": ("resume", "--detach", name),
            "reattach": ("resume", "--reattach", "--detach", name),
        }
        project.ok(*words[form])

    return do


def forms(page: Page) -> Do:
    """Return what does as a person does who presses buttons."""

    def do(session: Session, form: str, **fields: str) -> None:
        if form in {"approve", "request-changes"}:
            fields["digest"] = digest(session)
        if form == "answer":
            fields |= {"digest": screen(session, fields["seat"]), "key": "Enter"}
        answer = page.post(f"/sessions/{session.name}/{form}", None, **fields)
        words = said(page, answer)
        assert words.startswith(("Done: ", "Sent: ", "Started: ", "Resumed: ")), words

    return do


def digest(session: Session) -> str:
    (found,) = session.project.json("status", session.name)["sessions"]
    return str(found["decision"]["digest"])


def screen(session: Session, name: str) -> str:
    (found,) = session.project.json("status", session.name)["sessions"]
    (seat,) = (each for each in found["seats"] if each["seat"] == name)
    return str(seat["screen"]["digest"])


def from_a_question_to_a_commit(project: Project, do: Do, wait_until: WaitUntil) -> Session:
    """Answer, tell, request changes, stop, resume, reattach, approve."""
    project.scenario(
        {
            "roles": {
                "architect": {"dialog": "permission"},
                "planner": {"silent": "until-told", "plan": {"parts": 1}},
            }
        }
    )
    session = project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 60)
    do(session, "answer", seat="architect")
    session.until_seat("planner").settled("planner")
    wait_until(lambda: doing(session, "planner") == "idle", 60)
    do(session, "tell", seat="planner", text="go on")
    session.wait()
    do(session, "request-changes", text="a friendlier greeting", **{"from": "fixing"})
    wait_until(lambda: session.state["cycle"] == 2, 60)
    session.wait()
    stopped = session.runtime["orchestrator_pid"]
    do(session, "stop")
    do(session, "resume")
    wait_until(lambda: session.runtime["orchestrator_pid"] != stopped, 60)
    session.wait()
    os.kill(session.runtime["orchestrator_pid"], signal.SIGKILL)
    wait_until(lambda: "orchestrator is gone" in project.ok("status", session.name), 60)
    do(session, "reattach")
    do(session, "approve")
    return session.wait("done")


def over_a_crash(project: Project, do: Do, wait_until: WaitUntil) -> Session:
    """Restart."""
    project.scenario({"roles": {"planner": {"crash": "before_write", "exit": 3}}})
    # How soon a native start ends decides whether it counts as rejected.
    project.config("resume: {native: false}\n")
    session = project.start()
    wait_until(lambda: session.state["phase"] == "failed", 60)
    project.scenario(QUICK)
    do(session, "restart", seat="planner")
    return session.wait()


def to_the_end_of_a_limit(project: Project, do: Do, wait_until: WaitUntil) -> Session:
    """Unpark; the agent reaches its limit once more."""
    project.scenario({"roles": {"architect": {"limit": 36000}}})
    session = project.start()
    wait_until(lambda: session.state.get("parked"), 60)
    do(session, "unpark")
    wait_until(lambda: session.kinds("limits_lifted"), 60)
    return session


Journey = Callable[[Project, Do, WaitUntil], Session]


@pytest.mark.parametrize(
    ("journey", "decided"),
    [
        (
            from_a_question_to_a_commit,
            {"seat_answered", "seat_told", "request_changes", "session_interrupted", "resumed"}
            | {"approve", "commit_made"},
        ),
        pytest.param(over_a_crash, {"seat_restarted"}, marks=RARE),
        pytest.param(to_the_end_of_a_limit, {"limits_lifted"}, marks=RARE),
    ],
)
def test_a_form_leaves_the_records_of_its_command(
    page: Page, wait_until: WaitUntil, journey: Journey, decided: set[str]
) -> None:
    typing = Project(make_root())
    try:
        typed = records(journey(typing, commands(typing), wait_until))
    finally:
        typing.close()
    pressed = records(journey(page.project, forms(page), wait_until))
    assert pressed == typed
    kinds = {json.loads(each)["event"] for each in typed}
    assert decided <= kinds
