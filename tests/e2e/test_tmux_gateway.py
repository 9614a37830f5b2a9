"""Every tmux call about our session checks, in the same call, that it reaches that session.

A script named `tmux`, earlier on PATH than the real one, records the arguments of every call.
"""

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.adapters.tmux.commands import SHORT_NAMES, guard, is_ours
from agentmux.ports.tmux.terminal import Server, Target
from tests.conftest import WaitUntil
from tests.e2e.conftest import Client, Project

pytestmark = pytest.mark.long

# These calls look at a whole server, so they need no check of a session's id.
FREE = {
    ("list-sessions",), ("display-message",), ("list-sessions", "display-message"),
    ("list-clients",), ("-V",),
}  # fmt: skip

FULL_NAMES = {short: name for name, short in SHORT_NAMES.items()}


def commands(words: list[str]) -> list[list[str]]:
    """Split one tmux call into commands with full names, without the client's options."""
    while words and words[0] in {"-u", "-S"}:
        words = words[2:] if words[0] == "-S" else words[1:]
    found: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            found.append([])
        else:
            found[-1].append(FULL_NAMES.get(word, word) if not found[-1] else word)
    return found


def goes_around(words: list[str], ours: Target) -> bool:
    """Return whether a call could reach a session that is not ours."""
    said = commands(words)
    if said[0] == ["show-hooks", "-g"]:  # what a hook might do to the session made after it
        said = said[1:]
    names = tuple(each[0] for each in said)
    if names in FREE:
        return any("-t" in each for each in said)
    if names[0] == "new-session":
        # Later commands target the new session's name; if that is taken, the call has failed.
        made = said[0][said[0].index("-s") + 1]
        later = [each for each in said[1:] if each != ["run-shell", "-d", "0"]]
        return any(each[each.index("-t") + 1] != f"={made}:" for each in later)
    if names[0] == "if-shell" and len(said) == 1:
        return is_ours(ours) not in said[0]
    return said[0] != list(guard(ours))


def test_what_goes_around_is_seen() -> None:
    ours = Target(server=Server(socket="/s", pid=7, started=1), session="$0", uuid="u")
    mine, theirs = (
        list(guard(ours)),
        list(guard(Target(server=ours.server, session="$1", uuid="u"))),
    )
    end = ["kill-session", "-t", "$0"]
    assert not goes_around(["-u", "-S", "/s", *mine, ";", *end], ours)
    assert goes_around(["-u", "-S", "/s", *theirs, ";", *end], ours)
    assert goes_around(["-u", "-S", "/s", *end, ";", *mine], ours)
    assert goes_around(["-S", "/s", *end], ours)
    assert goes_around(["list-panes", "-s", "-t", "$0"], ours)
    assert goes_around(["display-message", "-p", "-t", "%0", "x"], ours)
    assert not goes_around(["list-sessions", "-F", "x", ";", "display-message", "-p", "x"], ours)
    made = ["new-session", "-s", "n", ";", "set-option", "-t"]
    assert not goes_around([*made, "=n:"], ours)
    assert goes_around([*made, "$0"], ours)


@pytest.fixture
def calls(project: Project) -> Iterator[Path]:
    """The folder to which the arguments of each tmux call are written, one file per call."""
    folder, real = project.root / "calls", shutil.which("tmux")
    program = project.root / "bin" / "tmux"
    for each in (folder, program.parent):
        each.mkdir()
    program.write_text(
        f'#!/bin/sh\nf=$(mktemp {folder}/XXXXXXXX)\nprintf \'%s\\0\' "$@" >"$f"\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    return_path = project.env["PATH"]
    project.env["PATH"] = f"{program.parent}:{return_path}"
    yield folder
    project.env["PATH"] = return_path


def said(calls: Path) -> list[list[str]]:
    found = [each.read_bytes().decode().split("\0")[:-1] for each in calls.iterdir()]
    return [each for each in found if each]


def test_no_call_goes_around_the_gateway(
    project: Project, calls: Path, wait_until: WaitUntil
) -> None:
    """Start, attach, kill the orchestrator, reattach, submit, look, stop."""
    life = {"plan": {"parts": 2, "groups": [{"mode": "parallel", "plans": [1, 2]}]}}
    project.scenario({"roles": {"planner": life, "architect": {"silent": True}}})
    session = project.start("add a greeting", "--role", "planner=demo-paste")
    session.until_seat("architect")
    with Client(project, "agentmux", "attach", session.name) as client:
        wait_until(lambda: "architect" in client.said, 20)
    driver = int(json.loads(session.read("session.lock.json"))["pid"])
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: not is_alive(driver), 10)
    project.env["CHANGED_SINCE"] = "1"
    project.ok("resume", "--reattach", "--detach", session.name)
    design = session.path / "02_architecting" / "architecture.md"
    design.parent.mkdir(exist_ok=True)
    design.write_text("# Architecture\n")
    session.submit("architect", "architecture")
    session.wait("decision")
    project.ok("status", session.name)
    runtime = session.runtime
    project.ok("stop", session.name)

    server = Server(
        socket=runtime["socket"], pid=runtime["server_pid"], started=runtime["server_started"]
    )
    ours = Target(server=server, session=runtime["session"], uuid=session.state["session_id"])
    found = said(calls)
    assert [words for words in found if goes_around(words, ours)] == []
    kinds = {each[0] for words in found for each in commands(words)}
    assert {"list-panes", "new-window", "respawn-pane", "paste-buffer", "send-keys", "kill-session",
            "select-layout", "source-file", "if-shell", "set-hook"} <= kinds  # fmt: skip


# -- in the code ---------------------------------------------------------------------------------

PACKAGE = Path(__file__).parents[2] / "agentmux"


def test_two_files_run_tmux_and_three_may_ask_them_to() -> None:
    """A session of ours can be reached only through `OwnTmux`."""
    client = re.compile(r"tmux\.client import|TmuxClient|tmux import .*\bclient\b")
    users = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")
             if client.search(path.read_text())}  # fmt: skip
    # `announcement` shows a message to clients, and touches no session.
    # `control_client` is a client that needs no process for each call.
    files = ("announcement", "client", "control_client", "server", "own_session")
    assert users == {f"adapters/tmux/{name}.py" for name in files}
    own = (PACKAGE / "adapters" / "tmux" / "own_session.py").read_text()
    assert own.count("_client.run(") == 1
    runs = re.compile(r"""[\[(]\s*["']tmux["']""")
    runners = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")
               if runs.search(path.read_text())}  # fmt: skip
    # `commands` builds the argv of a client (attach), the demo makes a folder of that name, and
    # `doctor` calls a group of findings so.
    assert runners == {
        "adapters/tmux/server.py", "adapters/tmux/client.py", "adapters/tmux/commands.py",
        "adapters/tmux/control_client.py", "app/doctor/machine.py",
        "demo/home.py",
    }  # fmt: skip
