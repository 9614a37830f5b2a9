"""A person answers an agent's question and tells it something, as docs/how-to says it."""

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Client, Project, Session

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "answer-an-agent.md"
SCENARIO = {
    "roles": {
        "architect": {"dialog": "permission"},
        "planner": {"silent": "until-told", "plan": {"parts": 1}},
    }
}


def commands(page: str) -> list[str]:
    """Return the content of the page's `sh` blocks, in order."""
    return re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def doing(session: Session, seat: str) -> str:
    written = (session.path / "runtime_state.json").exists()
    seats = session.runtime.get("statuses", {}) if written else {}
    return str(seats.get(seat, {}).get("status"))


def test_an_agents_question_is_answered_and_an_idle_one_is_told(
    project: Project, wait_until: WaitUntil
) -> None:
    show, answer, tell = commands(PAGE.read_text("utf-8"))
    project.scenario(SCENARIO)
    project.config("snapshots: {interval: 0.2s}\n")
    session = project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 20)

    refused = project.json("tell", "--role", "architect", "hello", code=3)
    assert refused["result"] == "refused_dialog"
    said = project.program("sh", "-euc", show)
    digest = re.search(
        r"--role architect; in a script: KEYS --screen (\w+) --$", said.stdout, re.MULTILINE
    )
    assert digest is not None, said.stdout + said.stderr
    (seat,) = project.json("status")["sessions"][0]["seats"]
    assert seat["screen"]["digest"] == digest[1]
    late = project.json("answer", "Enter", "--screen", "0" * 16, code=3)  # the only agent
    assert late["result"] == "screen_changed"
    assert doing(session, "architect") == "waiting_for_user"

    done = project.program("sh", "-euc", answer.replace("DIGEST", digest[1]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pressed Enter; after that its screen changed" in done.stdout
    session.until_seat("planner").settled("planner")
    again = project.fails(4, "answer", "--role", "architect", "y", "--screen", digest[1])
    assert "has no seat `architect` now" in again

    wait_until(lambda: doing(session, "planner") == "idle", 20)
    told = project.program("sh", "-euc", tell)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "planner has it" in told.stdout
    session.wait("decision")
    assert session.kinds("seat_told", "seat_answered", "input_started", "input_ended") == [
        *("seat_told", "input_ended", "seat_answered", "input_started", "input_ended"),
        *("seat_answered", "input_started", "input_ended"),
        *("seat_told", "input_started", "input_ended"),
    ]
    assert not session.state.get("inputs")


def test_a_person_is_shown_the_question_and_asked_for_the_keys(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(SCENARIO)
    project.config("snapshots: {interval: 0.2s}\n")
    session = project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 20)
    step = f"agentmux answer {session.short} --role architect"
    look = f"look: agentmux attach {session.short}\n"
    assert f"  next: {step}\n        {look}" in project.ok("status")

    words = step.split()[1:]
    with at_terminal(project, *words) as asked:
        wait_until(lambda: ASKS in asked.said, 20, lambda: asked.said)
        assert "Do you want to proceed?" in asked.said
        asked.press("\r")
        assert "nothing was done" in asked.ended(130)
    with at_terminal(project, *words, "Escap") as mistyped:
        assert "`Escap` is not the name of a key" in mistyped.ended(2)
    with at_terminal(project, *words) as answered:
        wait_until(lambda: ASKS in answered.said, 20, lambda: answered.said)
        answered.press("Entr\r")
        wait_until(lambda: "did you mean" in answered.said, 20, lambda: answered.said)
        answered.press("Enter\r")
        assert "pressed Enter; after that its screen changed" in answered.ended(0)
    session.until_seat("planner")
    log = (session.path / "orchestrator.log").read_text()
    assert "user: pressed Enter for architect: its question is answered" in log


ASKS = "Keys (Enter alone presses nothing):"


def at_terminal(project: Project, *words: str) -> Client:
    return Client(project, sys.executable, "-m", "agentmux", *words)


def test_keys_that_are_named_are_pressed_after_a_yes(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(SCENARIO)
    project.config("snapshots: {interval: 0.2s}\n")
    session = project.start()
    wait_until(lambda: doing(session, "architect") == "waiting_for_user", 20)
    with at_terminal(project, "answer", "Enter") as asked:  # the only one that is live
        wait_until(lambda: "Press Enter? [y/N]" in asked.said, 20, lambda: asked.said)
        asked.press("y\r")
        assert "pressed Enter" in asked.ended(0)
    session.until_seat("planner")
