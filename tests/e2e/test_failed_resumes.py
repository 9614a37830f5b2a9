"""A resume that fails: one report, one exit code, and nothing left behind."""

import json
import os
import sys

import pytest

from agentmux.adapters.tmux.server import socket_path
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session
from tests.fakes.bench import Bench as TmuxTerminal

pytestmark = pytest.mark.rare("starts that fail between two steps; each step has tests, too")

QUIET = {"roles": {"architect": {"silent": True}}}

MEANWHILE = """\
import fcntl, os, sys
if "_orchestrate" in sys.orig_argv:
    session = sys.orig_argv[sys.orig_argv.index("_orchestrate") + 2]
    exec(os.environ["TEST_MEANWHILE"])
"""
"""Code that runs after the checks of a command and before those of its orchestrator."""

TAKEN = """\
taken = os.open(session + "/session.lock", os.O_RDWR)
fcntl.flock(taken, fcntl.LOCK_EX)
"""
UNKNOWN = """\
line = b'{"v":1,"id":"x","at":"2026-01-01T00:00:00.000Z","event":"came_later","seat":"s",'
line += b'"launch":"","cycle":1,"payload":{}}\\n'
with open(session + "/tool_events.jsonl", "ab") as file:
    file.write(line)
"""


@pytest.fixture
def stopped(project: Project) -> Session:
    project.scenario(QUIET)
    session = project.start().until_seat("architect")
    project.ok("stop", session.name)
    return session


def test_a_session_that_is_done_is_not_resumed(project: Project) -> None:
    session = project.start().wait().approve().gone()
    before = project.tree()
    for words in ((), ("--phase", "planning")):
        said = project.fails(4, "resume", session.name, "--detach", "--yes", *words)
        assert f"session {session.short} is done, there is nothing to resume" in said
        assert f"hint: agentmux show {session.short}" in said
        assert project.tree() == before
        assert not project.processes()


def test_an_orchestrator_reports_once(project: Project) -> None:
    session = project.start().wait().approve().gone()
    project.tmux("new-session", "-d", "-s", "another", ";", "set-option", "@agentmux_id", "u")
    place = project.tmux("display-message", "-p", "#{socket_path},#{pid},0").strip()
    pipe = session.path / "ready-test.fifo"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    request = json.dumps({"mode": "resume", "ready": str(pipe)})
    words = ("-m", "agentmux", "_orchestrate", str(project.path), str(session.path), request)
    done = project.program(sys.executable, *words, env={"TMUX": place})
    said = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert done.returncode == 4
    report = json.loads(said)  # fails if there is more than one report
    assert (report["ok"], report["exit_code"]) == (False, 4)


@pytest.mark.parametrize(
    ("code", "reason", "meanwhile"),
    [(3, "is in use by", TAKEN), (5, "came_later", UNKNOWN)],
    ids=["locked", "unreadable"],
)
def test_what_only_the_orchestrator_finds_is_the_commands_exit(
    stopped: Session, wait_until: WaitUntil, code: int, reason: str, meanwhile: str
) -> None:
    project = stopped.project
    folder = project.root / "meanwhile"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(MEANWHILE)
    env = {"PYTHONPATH": str(folder), "TEST_MEANWHILE": meanwhile}
    state = (stopped.path / "state.json").read_bytes()
    assert reason in project.fails(code, "resume", stopped.name, "--detach", "--yes", env=env)
    wait_until(lambda: not project.processes(), 10, project._left)
    assert (stopped.path / "state.json").read_bytes() == state
    assert not list(stopped.path.glob("ready-*"))


def test_a_report_that_nobody_understands_leaves_no_tmux_session(
    stopped: Session, wait_until: WaitUntil
) -> None:
    project = stopped.project
    folder = project.root / "meanwhile"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(MEANWHILE)
    garbled = (
        "import json\n"
        "at = sys.orig_argv.index('_orchestrate') + 3\n"
        "pipe = json.loads(sys.orig_argv[at])['ready']\n"
        "open(pipe, 'w').write('{')\n"
        "import signal; signal.pause()\n"
    )
    env = {"PYTHONPATH": str(folder), "TEST_MEANWHILE": garbled}
    words = ("-m", "agentmux", "resume", stopped.name, "--detach", "--yes")
    assert project.program(sys.executable, *words, env=env).returncode == 1
    wait_until(lambda: not project.processes(), 10, project._left)


@pytest.fixture
def terminal(project: Project) -> TmuxTerminal:
    """The project's tmux server, which also has a session of the user."""
    project.tmux("new-session", "-d", "-s", "mine", "cat")
    return TmuxTerminal(socket_path(tmux_tmpdir=str(project.root)))


@pytest.mark.parametrize("gone", ["directory", "pipe"])
def test_a_tmux_session_that_is_made_too_late_goes_again(
    stopped: Session, terminal: TmuxTerminal, wait_until: WaitUntil, gone: str
) -> None:
    """Tmux hung, and made the session only after the command had given up."""
    project = stopped.project
    path = stopped.path if gone == "pipe" else stopped.path.with_name("gone")
    before = project.tree()
    request = json.dumps({"mode": "resume", "ready": str(path / "ready-gone.fifo")})
    words = ("-m", "agentmux", "_orchestrate", str(project.path), str(path), request)
    terminal.create_session(
        name="late",
        uuid="late",
        cwd=project.path,
        size=(80, 24),
        argv=(sys.executable, *words),
    )

    def shown() -> str:
        return "\n".join(
            project.tmux("capture-pane", "-p", "-t", pane)
            for pane in project.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        )

    wait_until(lambda: project.tmux("list-sessions", "-F", "#S") == "mine\n", 10, shown)
    assert project.tree() == before


def test_an_orchestrator_that_nobody_waits_for_kills_only_what_is_its_own(
    project: Project, terminal: TmuxTerminal
) -> None:
    made = terminal.create_session(
        name="ours", uuid="ours", cwd=project.path, size=(80, 24), argv=("cat",)
    )
    project.tmux("split-window", "-t", made.session.id, "cat")
    form = "#{session_id} #{pane_id}"
    before = project.tmux("list-panes", "-a", "-F", form)
    gone = str(project.path / ".agentmux" / ".sessions" / "gone")
    request = json.dumps({"mode": "start", "ready": f"{gone}/ready-gone.fifo"})
    words = ("-m", "agentmux", "_orchestrate", str(project.path), gone, request)
    for session, pane in (line.split() for line in before.splitlines()):
        place = {"TMUX": f"{terminal.socket},1,{session[1:]}", "TMUX_PANE": pane}
        done = project.program(sys.executable, *words, env=place)
        assert done.returncode == 4
        assert done.stderr.startswith("error: the command that started this orchestrator has ended")
        assert project.tmux("list-panes", "-a", "-F", form) == before
