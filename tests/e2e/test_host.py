"""Changes on the host between a session's end and its resume, and processes still alive."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.system.processes.processes import is_alive, start_time
from tests.conftest import WaitUntil, _wait_until
from tests.e2e.conftest import Project, Session
from tests.e2e.pair import Pair, child_of, kill_all

RARE = pytest.mark.rare("CI follows a conversation of one kind; tests/core/conversation decides")

QUIET = {"roles": {"architect": {"submit": "no", "write": "none", "think": 0.05}}}


def begin(project: Project, agent: str = "demo") -> Session:
    """Start a session whose architect has its prompt and keeps running."""
    project.scenario(QUIET)
    answer = project.json("start", "--agent", agent, "--", "add a greeting")
    session = Session(project, project.path / answer["path"]).until_seat("architect")
    session.submit("architect", "hello")
    conversation = f"*{session.state['agents']['architect']['session_ref']}*"
    _wait_until(lambda: any((project.home / "demo").rglob(conversation)), 20)
    return session


def end(project: Project, wait_until: WaitUntil) -> None:
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)


def architect(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.state["seats"]["architect"]
    return found


def edit(session: Session, **fields: object) -> None:
    """Change fields of the architect's resume record, as another machine or a mistake may do."""
    path = session.path / "state.json"
    state = json.loads(path.read_text())
    state["agents"]["architect"] |= fields
    path.write_text(json.dumps(state))


# -- the record and the machine ------------------------------------------------------------------


RECORDS = (
    ({"boot": "another"}, "native", "every check passed"),
    ({"host": "elsewhere"}, "fresh", "recorded on host `elsewhere`"),
    ({"runtime": "/bin/other:1:2"}, "fresh", "another program answers: `other` then"),
    ({"runtime": "/bin/agentmux-demo-agent:1:2"}, "native", "agentmux-demo-agent was updated"),
    ({"agent": "claude"}, "fresh", "the seat was played by `claude`, now it is `demo`"),
    ({"captured_at": "2020-01-01T00:00:00Z"}, "fresh", "`resume.max_age` is 7 days"),
    ({"session_ref": "--help"}, "fresh", "`--help` is not the id of a conversation"),
)


@pytest.mark.long
def test_what_was_recorded_decides(project: Project, wait_until: WaitUntil) -> None:
    session = begin(project)
    end(project, wait_until)
    path = session.path / "state.json"
    kept = path.read_text()
    plan: dict[str, Any] = {}
    for fields, mode, reason in RECORDS:
        path.write_text(kept)
        edit(session, **fields)
        (plan,) = project.json("resume", "--dry-run")["sessions"][0]["panes"]
        assert (plan["mode"], reason in plan["reason"]) == (mode, True), plan["reason"]
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect")
    found = architect(session)
    assert [found[each] for each in ("mode", "reason", "prompt_bytes", "fresh_prompt_bytes")] == [
        plan[each] for each in ("mode", "reason", "prompt_bytes", "fresh_prompt_bytes")
    ]


@RARE
@pytest.mark.long
def test_an_agent_that_updates_itself_keeps_its_conversation(
    project: Project, wait_until: WaitUntil
) -> None:
    link = project.home / "bin" / "robot"
    link.parent.mkdir()
    for version in ("1.0", "1.1"):
        made = project.home / "ver" / version / "robot"
        made.parent.mkdir(parents=True)
        made.write_text('#!/bin/sh\nexec agentmux-demo-agent "$@"\n')
        made.chmod(0o755)
    link.symlink_to(project.home / "ver" / "1.0" / "robot")
    users = project.home / "config" / "agentmux" / "config.yaml"
    users.parent.mkdir(parents=True)
    users.write_text(f"version: 1\nagents: {{robot: {{like: demo, command: {link}}}}}\n")
    session = begin(project, "robot")
    conversation = session.state["agents"]["architect"]["session_ref"]
    end(project, wait_until)

    link.unlink()
    link.symlink_to(project.home / "ver" / "1.1" / "robot")
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect").settled("architect")
    found = architect(session)
    assert (found["mode"], found["reason"].partition("passed")[2]) == (
        "native",
        " (robot 1.0 → 1.1)",
    )
    end(project, wait_until)

    os.utime(link, (1, 1))
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect").settled("architect")
    found = architect(session)
    assert (found["mode"], found["reason"].partition("passed")[2]) == (
        "native", " (robot was updated)",
    )  # fmt: skip
    assert session.state["agents"]["architect"]["session_ref"] == conversation


# -- directories ---------------------------------------------------------------------------------


@RARE
@pytest.mark.long
def test_a_project_that_was_moved_goes_on_with_new_conversations(
    project: Project, wait_until: WaitUntil
) -> None:
    session = begin(project)
    end(project, wait_until)
    project.scenario({"roles": {"planner": {"plan": {"parts": 1}}}})
    old, project.path = project.path, project.path.with_name("moved here")
    old.rename(project.path)
    session = Session(project, project.path / session.path.relative_to(old))

    project.ok("resume", "--yes", "--detach")
    session.wait()
    (resumed, *_) = [each for each in session.events if each["event"] == "agent_launched"][1:]
    reason = resumed["payload"]["reason"]
    assert reason == f"recorded in the directory `{old}`, this is `{project.path}`"
    launch = session.path / "launches" / resumed["launch"]
    assert str(old) not in (launch / "prompt.md").read_text()
    fields = json.loads((launch / "launch.json").read_text())
    assert str(old) not in json.dumps([fields["argv"], fields["env"], fields["cwd"]])
    assert not old.exists()
    session.approve()
    assert project.git("log", "--format=%s") == "add a greeting\nBegin\n"


@pytest.mark.long
def test_a_copy_of_a_session_is_refused(project: Project, wait_until: WaitUntil) -> None:
    session = begin(project)
    end(project, wait_until)
    copy = session.path.with_name("20300101-000000-copied")
    project.program("cp", "-a", str(session.path), str(copy))
    before = project.tree()
    said = project.fails(3, "resume", "--yes", "--detach", copy.name)
    foretold = project.run("resume", "--dry-run", copy.name)
    assert foretold.returncode == 3
    for text in (said, foretold.stdout):
        assert f"is a copy of session {session.short}" in text
        assert f"agentmux resume {session.short}" in text
    answer = project.json("resume", "--dry-run", copy.name, code=3)
    (found,) = answer["sessions"]
    assert (found["blocked"]["code"], found["blocked"]["reason"]) == (3, "twin")
    assert (found["path"], found["phase"]) == (f".agentmux/.sessions/{copy.name}", "architecting")
    assert answer["problems"] == []
    assert project.tree() == before
    assert not project.processes()
    # The original can be resumed; the copy, too, once the original is removed.
    project.ok("resume", "--yes", "--detach", session.name)
    found = architect(session.until_seat("architect"))
    assert found["mode"] == "native", found["reason"]
    project.ok("stop", session.name)
    shutil.rmtree(session.path)
    project.ok("resume", "--yes", "--detach", copy.name)


@pytest.mark.long
def test_a_copy_of_a_project_has_no_conversations(project: Project, wait_until: WaitUntil) -> None:
    begin(project)
    end(project, wait_until)
    copy = project.root / "copy"
    project.program("cp", "-a", str(project.path), str(copy))
    (plan,) = project.json("resume", "--dry-run", cwd=copy)["sessions"][0]["panes"]
    assert (plan["mode"], plan["cwd"]) == ("fresh", str(copy))
    # Both have the same id: while one is live, the other one cannot be resumed.
    project.ok("resume", "--yes", "--detach")
    said = project.fails(3, "resume", "--yes", "--detach", cwd=copy)
    assert f"is a copy of the live session at {project.path}" in said


# -- conversations -------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "agent",
    [
        pytest.param("demo-hook", marks=pytest.mark.rare("CI looks at one of the two agents")),
        "demo-learn",
    ],
)
def test_a_conversation_that_its_user_cleared_is_followed(project: Project, agent: str) -> None:
    """An agent with a hook reports the new id at once, one without at its next agentmux command."""
    pair = Pair(project, agent, think=0.05)
    pair.arrive()
    pair.tell()
    before, old = pair.conversations(), dict(pair.words)
    pair.say({"coder-1": "/clear"})
    pair.until_shown_in("coder-1", "a new conversation")
    if agent == "demo-learn":
        prompt = pair.session.path / "launches" / pair.launches()["coder-1"] / "prompt.md"
        pair.say({"coder-1": f"Read the file {prompt} and do what it says."})
    pair.until(lambda: pair.conversations()["coder-1"] != before["coder-1"])
    pair.tell()
    assert pair.words != old
    if agent == "demo-hook":  # no prompt of ours has reached the new conversation
        pair.kill("server")
        pair.resume()
        pair.check_launches("FN", "no prompt had reached")
        return
    for _ in range(3):  # also after several resumes with the resume argv of the first id
        pair.kill("server")
        pair.resume()
        pair.check_launches("NN", "")
        pair.arrive()
        assert pair.ask() == pair.words


@RARE
@pytest.mark.long
def test_a_conversation_that_was_cleared_is_unsure_where_nobody_says_which(
    project: Project,
) -> None:
    """The screen shows a new conversation, but nothing reports its id."""
    pair = Pair(project, "demo", think=0.05)
    pair.arrive()
    pair.tell()
    pair.say({"coder-1": "/clear"})
    pair.until_shown_in("coder-1", "a new conversation")
    pair.until(lambda: pair.session.state["agents"]["coder-1"]["unsure"])
    pair.kill("server")
    pair.resume()
    pair.check_launches("FN", "unsure")


@pytest.mark.long
def test_one_conversation_is_never_in_two_panes(project: Project, wait_until: WaitUntil) -> None:
    session = begin(project)
    end(project, wait_until)
    clone = project.root / "clone"  # a checkout has at most one live session
    project.git("clone", "-q", str(project.path), str(clone))
    answer = project.json("start", "--agent", "demo", "--", "add another thing", cwd=clone)
    other = Session(project, clone / answer["path"]).until_seat("architect")
    mine, its = (each.state["agents"]["architect"] for each in (session, other))
    edit(session, **{name: its[name] for name in ("session_ref", "argv_ref", "resume_argv")})
    assert mine["session_ref"] != its["session_ref"]

    project.ok("resume", "--yes", "--detach", session.name)
    session.until_seat("architect")
    found = architect(session)
    assert found["mode"] == "fresh"
    assert found["reason"].startswith("the conversation is in use by process ")
    assert f"of session {other.name}" in found["reason"]
    assert architect(other)["status"] == "launched"


# -- agents that outlived their server -----------------------------------------------------------

SCRIPT = """\
agents:
  stubborn:
    like: demo
    match: []
    command: [sh, -c, 'agentmux-demo-agent "$@"; exit $?', sh]
"""


def survivor(session: Session) -> int:
    """Return the pid of the agent below the shell that the wrapper started; 0 until it runs."""
    wrapper = session.runtime["panes"].get("architect", {}).get("pid", 0)
    return child_of(child_of(wrapper))


@pytest.mark.long
@pytest.mark.follows("to end them and resume: agentmux resume … --yes")
def test_agents_that_outlived_their_server_are_ended_with_consent(
    project: Project, wait_until: WaitUntil
) -> None:
    project.config(SCRIPT)
    session = begin(project, "stubborn")
    wait_until(lambda: survivor(session), 20)
    stubborn = {"ignore_hup": True, **QUIET["roles"]["architect"]}
    end(project, wait_until)
    project.scenario({"roles": {"architect": stubborn}})
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect")
    launch = architect(session)["launch"]
    wait_until(lambda: launch in session.read("runtime_state.json"), 20)
    wait_until(lambda: survivor(session), 20)
    agent = survivor(session)
    started = start_time(agent)
    wait_until(lambda: ignores_hup(agent), 20)
    wait_until(lambda: status(session) == "idle", 20)  # until then, it writes to its home

    wrapper = session.runtime["panes"]["architect"]["pid"]
    server = int(project.tmux("display-message", "-p", "#{pid}"))
    # The orchestrator first: if it saw the wrapper die, it would end the agent.
    driver = int(json.loads(session.read("session.lock.json"))["pid"])
    kill_all([driver, wrapper, server])
    wait_until(lambda: {pid for pid, _ in project.processes()} == {agent}, 15, project._left)
    before = project.tree()

    said = project.fails(3, "resume", "--detach")
    assert "outlived their tmux server" in said
    assert f"architect (process {agent}" in said
    assert f"agentmux resume {session.short} --yes" in said
    (plan,) = project.json("resume", "--dry-run", code=3)["sessions"]
    assert (plan["blocked"]["code"], plan["blocked"]["reason"]) == (3, "agents_alive")
    assert plan["blocked"]["message"].replace(session.name, session.short) in said
    (plan,) = project.json("resume", "--dry-run", "--yes")["sessions"]
    assert any("outlived their tmux server" in each for each in plan["warnings"])
    assert project.tree() == before
    assert is_alive(agent, started)

    project.ok("resume", "--yes", "--detach")
    assert not is_alive(agent, started)
    session.until_seat("architect")
    assert architect(session)["mode"] == "native"
    wait_until(lambda: survivor(session) not in {0, agent}, 20)


def status(session: Session) -> str:
    """Return the architect's status, as read from its screen."""
    statuses = session.runtime["statuses"]
    return str(statuses.get("architect", {}).get("status"))


def ignores_hup(pid: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = next(line for line in lines if line.startswith("SigIgn:"))
    return bool(int(mask.split()[1], 16) & 1 << (signal.SIGHUP - 1))


@pytest.mark.long
def test_a_live_pane_is_never_doubled(project: Project, wait_until: WaitUntil) -> None:
    """Only the orchestrator was killed: resume refuses, and reattach takes over the panes."""
    pair = Pair(project, "demo", think=0.05)
    pair.arrive()
    pair.tell()
    agents = {seat: pair.agent_pid(seat) for seat in pair.seats()}
    driver = int(json.loads(pair.session.read("session.lock.json"))["pid"])
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: not is_alive(driver), 10)
    said = project.fails(3, "resume", "--yes", "--detach")
    assert f"agentmux resume --reattach {pair.session.short}" in said
    said = project.fails(2, "resume", "--reattach", "--attach", pair.session.name)
    assert "cannot attach without a terminal" in said
    project.ok("resume", "--reattach", "--detach", pair.session.name)
    assert {seat: pair.agent_pid(seat) for seat in pair.seats()} == agents
    assert pair.session.launched()[-2:] == ["coder-1", "coder-2"]
    assert pair.ask() == pair.words


def pane_of(project: Project, seat: str) -> str:
    rows = project.tmux("list-panes", "-aF", "#{@agentmux_seat} #{pane_id}").splitlines()
    return next((row.split()[1] for row in rows if row.startswith(f"{seat} ")), "")


def left_untyped(project: Project, wait_until: WaitUntil) -> Session:
    """Start a session whose orchestrator is killed before it can type the agent's prompt."""
    life = {"silent": True, "banner_delay": 1.5}
    project.scenario({"roles": {"architect": life}})
    answer = project.json("start", "--agent", "demo-paste", "--", "add a greeting")
    session = Session(project, project.path / answer["path"]).until_seat("architect")
    wait_until(lambda: pane_of(project, "architect"), 10)
    driver = int(json.loads(session.read("session.lock.json"))["pid"])
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: not is_alive(driver), 10)
    assert not architect(session)["reached"]
    return session


@RARE
@pytest.mark.long
@pytest.mark.parametrize(
    "keys", [(), ("LINE",), ("LINE", "Enter")], ids=["not begun", "in the composer", "submitted"]
)
def test_a_prompt_is_typed_once_whoever_began(
    project: Project, wait_until: WaitUntil, keys: tuple[str, ...]
) -> None:
    project.env["AGENTMUX_DEMO_TRACE"] = str(project.root / "trace")
    session = left_untyped(project, wait_until)
    pane = pane_of(project, "architect")

    def screen() -> str:
        return project.tmux("capture-pane", "-pJ", "-t", pane)

    prompt = session.path / "launches" / architect(session)["launch"] / "prompt.md"
    line = f"Read the file {prompt} and do what it says."
    if keys:  # what the killed orchestrator may have typed already
        wait_until(lambda: "\n\u276f " in screen(), 20, screen)
        for key in keys:
            project.tmux("send-keys", "-t", pane, *(("-l", line) if key == "LINE" else (key,)))
        shown = "\n> Read" if "Enter" in keys else "says."
        wait_until(lambda: shown in screen(), 20, screen)

    project.ok("resume", "--reattach", "--detach", session.name)
    wait_until(lambda: architect(session)["reached"], 20, screen)
    wait_until(lambda: status(session) == "idle", 20, screen)
    traced = [json.loads(row) for row in (project.root / "trace").read_text().splitlines()]
    assert [each["what"] for each in traced if each["did"] == "prompted"] == [line]
    assert screen().count("prompt.md") == 1
    assert session.launched() == ["architect"]
