"""Stopped panes, and resumes without a conversation, from the command line."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Client, Project, Session

RARE = pytest.mark.rare("CI chooses in stopped panes once")

CONFIRM = "resume: {policy: confirm}\n"
BUSY = {"roles": {"architect": {"think": 600}}}
QUIET = {"roles": {"architect": {"silent": True}}}


def at_work(
    project: Project, wait_until: WaitUntil, agent: str = "demo", place: str = "--no-worktree"
) -> Session:
    """Return a session that was killed with its tmux server while the architect was busy."""
    project.scenario(BUSY)
    answer = project.json("start", "--agent", agent, place, "--", "add a greeting")
    session = Session(project, project.path / answer["path"])
    wait_until(lambda: seat(session).get("reached"), 30, lambda: seat(session))
    wait_until((session.path / "snapshots" / "architect.json").exists, 20)
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15)
    return session


def seat(session: Session, name: str = "architect") -> dict[str, Any]:
    found: dict[str, Any] = session.state["seats"].get(name, {})
    return found


def pane(project: Project, name: str = "architect") -> dict[str, str]:
    form = "#{@agentmux_seat}\t#{pane_id}\t#{pane_pid}\t#{alternate_on}\t#{@agentmux_label}"
    rows = [line.split("\t") for line in project.tmux("list-panes", "-a", "-F", form).splitlines()]
    keys = ("seat", "id", "pid", "alternate", "label")
    return next((dict(zip(keys, row, strict=True)) for row in rows if row[0] == name), {})


def screen(project: Project) -> str:
    found = pane(project)
    # Meanwhile the pane may have been replaced by another one.
    return project.program("tmux", "capture-pane", "-p", "-t", found["id"]).stdout if found else ""


def resume_to_the_question(project: Project, session: Session, wait_until: WaitUntil) -> None:
    """Resume a session whose architect then stands stopped and asks how to go on."""
    project.ok("resume", session.name, "--detach")
    session.until_seat("architect", "stopped")
    wait_until(lambda: "Restart fresh" in screen(project), 20)


def chosen(session: Session) -> list[dict[str, Any]]:
    return [each for each in session.events if each["event"] == "launch_chosen"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "mode"), [("r", "native"), ("f", "fresh"), ("s", "shell")], ids=["r", "f", "s"]
)
def test_a_stopped_pane_goes_on_as_its_user_chooses(
    project: Project, wait_until: WaitUntil, key: str, mode: str
) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until)
    conversation = session.state["agents"]["architect"]["session_ref"]
    project.scenario(QUIET if key == "s" else {})

    resume_to_the_question(project, session, wait_until)
    before = pane(project)
    assert "architect · demo · stopped" in before["label"]
    assert "its conversation comes back" in screen(project)
    assert "every check passed" in screen(project)
    assert "Demo agent" in screen(project)
    shown = project.json("status", session.name)["sessions"][0]
    assert [each["status"] for each in shown["seats"]] == ["stopped"]
    assert shown["status"] == "waiting_for_user"
    launch = seat(session)["launch"]
    assert not (session.path / "launches" / launch / "started").exists()

    project.tmux("send-keys", "-t", before["id"], key)
    wait_until(lambda: chosen(session), 20)
    fact = chosen(session)[0]
    assert (fact["payload"]["mode"], fact["launch"], fact["seat"]) == (mode, launch, "architect")
    if key != "s":
        wait_until(lambda: session.kinds("submit_architecture"), 30, lambda: screen(project))
    else:
        wait_until(
            lambda: "when it is done, run: agentmux submit architecture" in screen(project), 20
        )
        after = pane(project)
        assert (after["id"], after["pid"], after["alternate"]) == (before["id"], before["pid"], "0")
        wait_until(lambda: "architect · demo · shell" in pane(project)["label"], 20)
        assert seat(session)["mode"] == "shell"
        (session.path / "02_architecting").mkdir(exist_ok=True)
        (session.path / "02_architecting" / "architecture.md").write_text("# Mine\n")
        line = "agentmux submit architecture && exit"
        project.tmux("send-keys", "-t", after["id"], line, "Enter")
        wait_until(lambda: session.kinds("submit_architecture"), 30, lambda: screen(project))
    wait_until(lambda: session.state["phase"] == "planning", 20)
    record = session.state["agents"]["architect"]
    assert (record["session_ref"] == conversation) == (key != "f")
    # A shell has no conversation: a signal from it does not prove that one was reached.
    assert record["reached"] == {"r": 2, "f": 1, "s": 1}[key]


@RARE
@pytest.mark.long
def test_the_last_screen_outlives_stopped_panes(project: Project, wait_until: WaitUntil) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until)
    kept = (session.path / "snapshots" / "architect.json").read_text()
    resume_to_the_question(project, session, wait_until)
    project.ok("stop", session.name)
    assert (session.path / "snapshots" / "architect.json").read_text() == kept

    # The user chose nothing, so the next resume is the same as before.
    panes = project.json("resume", "--dry-run")["sessions"][0]["panes"]
    assert [each["mode"] for each in panes] == ["native"]


@pytest.mark.long
def test_a_stopped_pane_that_is_closed_was_ended_by_its_user(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until)
    resume_to_the_question(project, session, wait_until)
    project.tmux("kill-pane", "-t", pane(project)["id"])
    session.until_seat("architect", "ended_by_user")
    assert session.launched() == ["architect"] * 2


@RARE
@pytest.mark.long
@pytest.mark.parametrize("key", ["r", "f"])
def test_a_prompt_is_typed_once_its_agent_is_chosen(
    project: Project, wait_until: WaitUntil, key: str
) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until, agent="demo-paste")
    project.scenario({})
    project.ok("resume", session.name, "--detach")
    wait_until(lambda: "Restart fresh" in screen(project), 20)
    project.tmux("send-keys", "-t", pane(project)["id"], key)
    wait_until(lambda: session.kinds("submit_architecture"), 30, lambda: screen(project))
    wait_until(lambda: session.state["phase"] == "planning", 20)
    assert len(session.kinds("prompt_reached")) >= 2


@pytest.mark.long
def test_yes_asks_nothing(project: Project, wait_until: WaitUntil) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until)
    project.scenario({})
    project.ok("resume", session.name, "--detach", "--yes")
    wait_until(lambda: session.kinds("submit_architecture"), 30)
    assert not chosen(session)


@RARE
@pytest.mark.long
def test_a_choice_that_nobody_heard_counts_at_the_next_resume(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(CONFIRM)
    session = at_work(project, wait_until)
    resume_to_the_question(project, session, wait_until)
    runtime = session.runtime
    os.kill(runtime["orchestrator_pid"], signal.SIGKILL)
    launch = seat(session)["launch"]
    project.tmux("send-keys", "-t", pane(project)["id"], "f")
    wait_until((session.path / "launches" / launch / "started").exists, 20)
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15)

    project.scenario({})
    project.ok("resume", session.name, "--detach", "--yes")
    assert [each["payload"]["choice"] for each in chosen(session)] == ["fresh"]


@pytest.mark.long
def test_a_program_that_is_gone_is_replaced_by_a_shell(
    project: Project, wait_until: WaitUntil
) -> None:
    session = at_work(project, wait_until)
    project.config("agents: {demo: {command: no-such-program}}\n")
    panes = project.json("resume", "--dry-run")["sessions"][0]["panes"]
    assert [each["mode"] for each in panes] == ["shell"]
    assert panes[0]["reason"] == "no program `no-such-program`"
    before = session.state["agents"]["architect"]

    with Client(project, "agentmux", "resume", session.name, "--detach") as person:
        wait_until(lambda: "a shell for you instead of its agent: no program" in person.said, 30)
        person.press("\r")
        said = person.ended(0)
    assert "warning: `no-such-program` is not on PATH: architect gets a shell" in said
    wait_until(lambda: "agentmux submit architecture" in screen(project), 20)
    assert "no program `no-such-program`" in screen(project)
    assert seat(session)["mode"] == "shell"
    assert session.state["agents"]["architect"] == before
    wait_until(lambda: project.json("status")["sessions"][0]["status"] == "waiting_for_user", 20)
    project.tmux("send-keys", "-t", pane(project)["id"], "exit 3", "Enter")
    session.until_seat("architect", "ended_by_user")


@pytest.mark.long
def test_nobody_is_there_where_the_program_is_not_on_path(
    project: Project, wait_until: WaitUntil
) -> None:
    folder = project.home / "only for a login shell"
    folder.mkdir()
    with_it = {"PATH": f"{folder}:{project.env['PATH']}"}
    (folder / "robot").symlink_to(Path(sys.executable).parent / "agentmux-demo-agent")
    project.config("agents: {robot: {like: demo, command: robot}}\n")
    project.scenario(BUSY)
    answer = project.json("start", "--agent", "robot", "--", "add a greeting", env=with_it)
    session = Session(project, project.path / answer["path"])
    wait_until(lambda: seat(session).get("reached"), 30, lambda: seat(session))
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15)

    before = {path: path.read_bytes() for path in session.path.rglob("*") if path.is_file()}
    said = ""
    for words in (("resume", "--all", "--yes"), ("resume", session.name, "--detach")):
        said = project.fails(6, *words)
        assert " no program `robot` for architect on the PATH of this command: /" in said
        assert f"{project.env['PATH']}\n" in said
        assert f"{folder}:{project.env['PATH']}' agentmux resume {session.short}\n" in said
    after = {path: path.read_bytes() for path in session.path.rglob("*") if path.is_file()}
    assert after == before
    assert "no server running" in project.program("tmux", "list-sessions").stderr

    (hint,) = re.findall(r"agents had: (PATH=.*)", said)
    done = project.program("sh", "-c", f"{hint} --detach")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: seat(session).get("mode") == "native", 20)


@pytest.mark.long
def test_a_rejected_conversation_is_started_afresh_once_and_told(
    project: Project, wait_until: WaitUntil
) -> None:
    session = at_work(project, wait_until)
    for file in (project.home / "demo").rglob("*.jsonl"):
        file.unlink()
    project.ok("resume", session.name, "--detach")
    told = "[a new conversation: the agent has rejected this conversation before]"
    wait_until(lambda: told in screen(project), 30, lambda: screen(project))
    wait_until(lambda: seat(session).get("reached"), 30)

    exits = [each["payload"]["cause"] for each in session.events if each["event"] == "agent_exited"]
    assert exits == ["rejected"]
    launches = [e["payload"] for e in session.events if e["event"] == "agent_launched"]
    assert [each["mode"] for each in launches] == ["fresh", "native", "fresh"]
    (shown,) = project.json("status", session.name)["sessions"][0]["seats"]
    assert (shown["mode"], shown["attempt"]) == ("fresh", 1)
    assert shown["reason"] == "the agent has rejected this conversation before"


@pytest.mark.long
def test_at_a_terminal_a_resume_asks_once(project: Project, wait_until: WaitUntil) -> None:
    session = at_work(project, wait_until)
    project.scenario({})
    with Client(project, "agentmux", "resume", "--detach") as person:
        wait_until(
            lambda: "1 ↻ architect  demo: its conversation comes back" in person.said,
            30,
            lambda: person.said,
        )
        person.press("\r")
        person.ended(0)
    wait_until(lambda: session.kinds("submit_architecture"), 30, lambda: screen(project))
    modes = [e["payload"]["mode"] for e in session.events if e["event"] == "agent_launched"]
    assert modes[:2] == ["fresh", "native"]
    assert not any(e["payload"].get("stopped") for e in session.events)
    assert not chosen(session)


@pytest.mark.long
@pytest.mark.parametrize(("keys", "end"), [("n", 130), ("11\r", 0)])
def test_the_question_can_be_declined_and_takes_a_shell_for_a_seat(
    project: Project, wait_until: WaitUntil, keys: str, end: int
) -> None:
    session = at_work(project, wait_until)
    before = session.path.joinpath("tool_events.jsonl").read_bytes()
    with Client(project, "agentmux", "resume", session.name, "--detach") as person:
        wait_until(lambda: "its conversation comes back" in person.said, 30, lambda: person.said)
        person.press(keys)
        said = person.ended(end)
    if end:
        assert "nothing was done" in said
        assert session.path.joinpath("tool_events.jsonl").read_bytes() == before
        return
    wait_until(lambda: "architect: a shell, you chose it" in screen(project), 20)
    assert seat(session)["mode"] == "shell"
    panes = project.json("resume", "--dry-run", code=3)["sessions"][0]["panes"]
    assert [each["mode"] for each in panes] == ["native"]  # its conversation is kept


@pytest.mark.long
def test_a_pane_that_is_not_what_was_agreed_to_waits(
    project: Project, wait_until: WaitUntil
) -> None:
    session = at_work(project, wait_until)
    (planned,) = project.json("resume", "--dry-run")["sessions"][0]["panes"]
    file = session.path / "requirements.md"
    file.write_text(file.read_text() + "and a farewell\n")
    agreed = ("--agreed", f"architect={planned['digest']}")
    project.ok("resume", session.name, "--detach", *agreed)
    session.until_seat("architect", "stopped")
    wait_until(lambda: "not what you agreed to; now begins a new" in screen(project), 20)
    assert "Restart fresh" not in screen(project)
    project.tmux("send-keys", "-t", pane(project)["id"], "f")
    wait_until(lambda: chosen(session), 20)
    assert [each["payload"]["choice"] for each in chosen(session)] == ["fresh"]


@pytest.mark.long
def test_a_pane_that_comes_after_the_setup_waits_too(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(f"git: {{setup: [{{name: prepare, run: [sleep, '1']}}]}}\n{CONFIRM}")
    session = at_work(project, wait_until, place="--worktree")
    shutil.rmtree(session.state["worktree"])
    project.ok("resume", session.name, "--detach")
    session.until_seat("architect", "stopped")
    assert session.kinds("setup_done")
