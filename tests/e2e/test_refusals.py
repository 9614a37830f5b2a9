"""Commands that only look, or refuse, change nothing, and never open an agent's own files."""

import fcntl
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.core.names.layout import slug_of
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session
from tests.e2e.pair import SEATS, Pair

RARE = pytest.mark.rare("CI runs the other refusals")

pytestmark = pytest.mark.long

NAME = "SESSION"
LOOKS = (
    ("resume", "--dry-run"),
    ("resume", "--dry-run", "--json"),
    ("resume", "--dry-run", "--json", NAME),
    ("resume", "--all", "--dry-run", "--json"),
    ("resume", "--dry-run", "--fresh"),
    ("resume", "--dry-run", "--fresh-role", "coder-2", "--json"),
    ("resume", "--dry-run", "--phase", "planning"),
    ("resume", "--explain", NAME),
    ("resume", "--explain", "--json", NAME),
    ("status",),
    ("list",),
)
REFUSALS = (
    (4, "no session matches", ("resume", "nonesuch")),
    (2, "no phase `nonesuch`", ("resume", "--phase", "nonesuch")),
    (2, "`--phase` can only go back", ("resume", "--phase", "reviewing")),
    (2, "cannot ask without a terminal", ("resume", "--phase", "planning", "--detach")),
    (2, "cannot ask without a terminal: Resume 1 session: ", ("resume", "--all")),
    (2, "--phase is for one session, not for --all", ("resume", "--all", "--phase", "planning")),
    (2, "--attach is for one session", ("resume", "--all", "--attach")),
    (2, "SESSION is for one session", ("resume", "--all", NAME)),
    (2, "is not live, so there is nothing to reattach to", ("resume", "--reattach", NAME)),
    (2, "missing option --role SEAT", ("restart", NAME)),
    (4, "no orchestrator runs", ("restart", NAME, "--role", "coder-1")),
    (4, "no seat `painter`", ("resume", NAME, "--fresh-role", "painter")),
)


@pytest.fixture
def stopped(project: Project, wait_until: WaitUntil) -> Session:
    """A session with two coders, all of whose processes were killed with the tmux server."""
    pair = Pair(project, "demo", think=0.05)
    pair.arrive()
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)
    return pair.session


def named(words: tuple[str, ...], session: Session) -> tuple[str, ...]:
    return tuple(session.name if word == NAME else word for word in words)


def test_looking_changes_nothing_and_leaves_nobody(stopped: Session) -> None:
    project = stopped.project
    before = project.tree()
    for words in LOOKS:
        project.ok(*named(words, stopped))
        assert project.tree() == before, words
        assert not project.processes(), words


def test_refusals_change_nothing_and_leave_nobody(stopped: Session) -> None:
    project = stopped.project
    before = project.tree()
    for code, reason, words in REFUSALS:
        assert reason in project.fails(code, *named(words, stopped)), words
        assert project.tree() == before, words
        assert not project.processes(), words


@RARE
def test_a_session_with_a_link_for_a_folder(stopped: Session) -> None:
    project = stopped.project
    (stopped.path / "launches").rename(project.root / "kept")
    (stopped.path / "launches").symlink_to(project.root / "kept")
    before = sorted((project.root / "kept").rglob("*"))
    said = project.fails(5, "resume", "--yes", "--detach", stopped.name)
    assert f"`{stopped.path / 'launches'}` is a link" in said
    assert sorted((project.root / "kept").rglob("*")) == before
    assert not project.processes()


def test_a_session_that_somebody_holds(stopped: Session) -> None:
    project = stopped.project
    before = project.tree()
    with (stopped.path / "session.lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "is in use by" in project.fails(3, "resume", "--yes", "--detach")
        found = project.json("resume", "--dry-run", code=3)["sessions"][0]
    assert found["blocked"]["reason"] == "locked"
    assert found["phase"] == "implementing"
    assert project.tree() == before
    assert not project.processes()


def test_a_live_session(project: Project, wait_until: WaitUntil) -> None:
    pair = Pair(project, "demo", think=0.05)
    pair.arrive()

    def durable() -> tuple[bytes, ...]:
        names = ("state.json", "tool_events.jsonl", "session.lock.json")
        return tuple((pair.session.path / name).read_bytes() for name in names)

    for each in SEATS:
        pair.session.settled(each)
    before, running = durable(), set(project.processes())
    for words in (("resume", "--yes"), ("resume", "--yes", "--detach", "--fresh")):
        said = project.fails(3, *words)
        name = pair.session.state["session_name"]
        agreed = f"tmux session {name} is still active. Detach or kill it before resuming."
        assert f"error: {agreed}\nhint: agentmux attach {pair.session.short}\n" in said
    found = project.json("resume", "--dry-run", code=3)["sessions"][0]
    assert found["blocked"]["reason"] == "session_live"
    assert durable() == before
    # Wait for the tmux processes that the orchestrator may be running at this moment.
    wait_until(lambda: set(project.processes()) <= running)


def test_a_hung_server_is_not_taken_for_gone(
    stopped: Session, request: pytest.FixtureRequest
) -> None:
    project = stopped.project
    project.ok("resume", "--yes", "--detach")
    server = int(project.tmux("display-message", "-p", "#{pid}"))
    stop, go_on = (
        lambda: _signal(server, signal.SIGSTOP),
        lambda: _signal(server, signal.SIGCONT),
    )
    request.addfinalizer(go_on)
    stop()
    refusal = project.fails(6, "resume", "--yes", "--detach")
    assert "cannot tell whether" in refusal
    if sys.platform == "linux":
        assert f"kill -CONT {server}\n" in refusal
    assert project.json("resume", "--dry-run", code=6)["problems"][0]["code"] == 6
    go_on()
    assert stopped.kinds("resumed") == ["resumed"]


@RARE
def test_a_stop_does_not_take_a_hung_server_for_gone(
    stopped: Session, request: pytest.FixtureRequest, wait_until: WaitUntil
) -> None:
    project = stopped.project
    project.ok("resume", "--yes", "--detach")
    server = int(project.tmux("display-message", "-p", "#{pid}"))
    orchestrator = int(json.loads(stopped.read("session.lock.json"))["pid"])
    _signal(orchestrator, signal.SIGKILL)
    wait_until(lambda: not is_alive(orchestrator))
    request.addfinalizer(lambda: _signal(server, signal.SIGCONT))
    _signal(server, signal.SIGSTOP)
    project.fails(6, "stop", stopped.name)


@RARE
def test_a_stop_that_tmux_holds_up_says_who_goes_on_with_it(
    stopped: Session, request: pytest.FixtureRequest
) -> None:
    project = stopped.project
    project.ok("resume", "--yes", "--detach")
    server = int(project.tmux("display-message", "-p", "#{pid}"))
    request.addfinalizer(lambda: _signal(server, signal.SIGCONT))
    _signal(server, signal.SIGSTOP)
    said = project.fails(6, "stop", stopped.name)
    assert "the session is being stopped" in said
    _signal(server, signal.SIGCONT)
    project.until(lambda: project.json("status")["sessions"][0]["status"] == "stopped")


def _signal(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)


# -- going back ----------------------------------------------------------------------------------


@RARE
def test_back_to_an_earlier_phase(stopped: Session, wait_until: WaitUntil) -> None:
    project = stopped.project
    plan = project.json("resume", "--dry-run", "--phase", "planning")["sessions"][0]
    assert [each["seat"] for each in plan["panes"]] == ["planner"]
    assert plan["phase"] == "planning"
    assert plan["because"].startswith("chosen by --phase; otherwise it would be implementing: ")
    said = "--phase goes back from implementing to planning"
    assert any(each.startswith(said) for each in plan["warnings"])
    assert said in project.ok("resume", "--dry-run", "--phase", "planning")
    same = project.json("resume", "--dry-run", "--phase", "implementing")["sessions"][0]
    assert same["warnings"] == []
    project.ok("resume", "--yes", "--detach", "--phase", "planning")
    wait_until(lambda: len(stopped.launched()) > 4, 20, stopped.launched)
    (resumed,) = [each["payload"] for each in stopped.events if each["event"] == "resumed"]
    assert (resumed["phase"], resumed["override"]) == ("planning", True)
    assert stopped.launched()[4] == "planner"


# -- the JSON answer -----------------------------------------------------------------------------

PANE = {
    "seat", "role", "subplan", "agent", "mode", "argv", "cwd", "env", "reason", "prompt_bytes",
    "fresh_prompt_bytes",
}  # fmt: skip


def test_all_of_them_for_a_machine(stopped: Session) -> None:
    project = stopped.project
    broken = stopped.path.with_name("20200101-000000-broken")
    broken.mkdir()
    (broken / "state.json").write_text(json.dumps({"schema_version": 99, "phase": "planning"}))
    answer = project.json("resume", "--all", "--dry-run", code=5)
    good, bad = sorted(answer["sessions"], key=lambda each: each["phase"] is None)
    assert (good["session"], good["phase"], good["blocked"]) == (
        stopped.name, "implementing", None,
    )  # fmt: skip
    assert all(set(each) >= PANE for each in good["panes"])
    assert [each["mode"] for each in good["panes"]] == ["native", "native"]
    assert (bad["session"], bad["phase"]) == (broken.name, None)
    (problem,) = answer["problems"]
    assert (problem["session"], problem["code"]) == (broken.name, 5)
    shown = project.run("resume", "--all", "--dry-run", "--phase", "reviewing").stdout
    assert f"{slug_of(broken.name)}: cannot be read\n" in shown
    assert f"{stopped.short}: cannot be resumed like this\n" in shown
    # An option that fits only one session is a problem of the others, which does not stop the run.
    for words in (("--phase", "reviewing"), ("--fresh-role", "coder-2")):
        answer = project.json("resume", "--all", "--dry-run", *words, code=5)
        assert {(each["session"], each["path"]) for each in answer["sessions"]} == {
            (name, f".agentmux/.sessions/{name}") for name in (stopped.name, broken.name)
        }


# -- files that are opened -----------------------------------------------------------------------

AUDIT = """\
import os, sys
_words = " ".join(sys.orig_argv)
if "agentmux" in _words and "demo-agent" not in _words:
    _log = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    def _hook(event, args):
        if event in {"open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir"}:
            line = f"{os.getpid()} {event} {args[0]!r} {_words[:200]!r}\\n"
            os.write(_log, line.encode("utf-8", "replace"))
    sys.addaudithook(_hook)
"""


@pytest.fixture
def audited(project: Project) -> Callable[[], list[str]]:
    """Make every agentmux process log the files that it opens; return a function that reads it."""
    folder, log = project.root / "audit", project.root / "audit.log"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(AUDIT)
    project.env |= {"PYTHONPATH": str(folder), "AUDIT_LOG": str(log)}
    return lambda: log.read_text().splitlines()


@pytest.mark.parametrize(
    "agent",
    [
        "demo-continue",
        pytest.param("demo-hook", marks=pytest.mark.rare("CI looks at one of the two agents")),
    ],
)
def test_nothing_of_an_agents_own_home_is_read(
    project: Project, audited: Callable[[], list[str]], agent: str
) -> None:
    pair = Pair(project, agent, think=0.05)
    pair.arrive()
    pair.kill("boot")
    pair.resume()
    pair.arrive()
    project.ok("status")
    project.ok("stop")

    lines = audited()
    seen: dict[str, Any] = {
        "resume": [line for line in lines if " resume " in line],
        "orchestrator": [line for line in lines if "orchestrate" in line],
        "submit": [line for line in lines if " submit " in line],
    }
    assert all(seen.values()), {name: len(found) for name, found in seen.items()}
    assert any("state.json" in line for line in seen["orchestrator"])
    home = project.home / "demo"
    assert list((home / "conversations").iterdir())  # there was something to read
    assert not [line for line in lines if str(home) in line]


def test_the_wrapper_opens_nothing_of_the_agent_either(tmp_path: Path, project: Project) -> None:
    """The wrapper runs isolated, without the audit above, so this test audits it separately."""
    home, launch, log = tmp_path / "demo", tmp_path / "launch", tmp_path / "log"
    for folder in (home, launch):
        folder.mkdir()
    program = shutil.which("agentmux-demo-agent", path=project.env["PATH"])
    (launch / "launch.json").write_text(
        json.dumps(
            {
                "argv": [program, "-p", "hello"],
                "env": {"AGENTMUX_DEMO_HOME": str(home)},
                "unset": [],
                "cwd": str(tmp_path),
                "claim": str(tmp_path / "claims" / "x.lock"),
                "grace_s": 1,
            }
        )
    )
    wrapper = Path(__file__).parents[2] / "agentmux" / "adapters" / "pane" / "wrapper.py"
    script = (
        "import os, runpy, sys\n"
        f"log = os.open({str(log)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "sys.addaudithook(lambda event, args: event == 'open' and"
        " os.write(log, (repr(args[0]) + chr(10)).encode()))\n"
        f"sys.argv = ['wrapper.py', {str(launch)!r}]\n"
        f"runpy.run_path({str(wrapper)!r}, run_name='__main__')\n"
    )
    project.program("python", "-c", script)
    opened = log.read_text()
    assert str(launch / "launch.json") in opened
    assert (launch / "exit.json").exists()
    assert str(home) not in opened
