"""AgentMux in real terminals: inside and outside tmux, small ones, various configurations."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import HOSTILE, WaitUntil
from tests.e2e.conftest import QUICK, Client, Project, Session, everything
from tests.e2e.pair import child_of

RARE = pytest.mark.rare("CI runs every hostile setting at once")

pytestmark = pytest.mark.long

PANES = "#{pane_width} #{pane_height} #{pane_left} #{pane_top} #{@agentmux_seat}"
AGENTMUX = f"{shlex.quote(sys.executable)} -m agentmux"


def panes(session: Session, what: str = PANES) -> list[list[str]]:
    """Return the fields ``what`` of each pane in the session's visible window."""
    shown = session.project.tmux("list-panes", "-t", f"={tmux_name(session)}:", "-F", what)
    return [line.split() for line in shown.splitlines()]


def tmux_name(session: Session) -> str:
    name: str = session.state["session_name"]
    return name


def monitor_pane(session: Session) -> str:
    """Return the id of the monitor's pane, which has no seat."""
    listed = session.project.tmux(
        "list-panes", "-s", "-t", f"={tmux_name(session)}", "-F", "#{pane_id} #{@agentmux_seat}"
    )
    return next(words[0] for words in map(str.split, listed.splitlines()) if len(words) == 1)


def monitor(session: Session) -> str:
    """Return the monitor's screen."""
    return session.project.tmux("capture-pane", "-p", "-t", monitor_pane(session))


def options(project: Project) -> str:
    """Return all tmux options of the user's own session."""
    scopes = ("-g", "-s", "-t=mine:", "-wt=mine:", "-pt=mine:")
    return "\n".join(project.tmux("show-options", scope) for scope in scopes)


@contextmanager
def attached(session: Session, wait_until: WaitUntil) -> Iterator[Client]:
    """Attach an 80x24 terminal with ``agentmux attach``."""
    project = session.project
    with Client(project, sys.executable, "-m", "agentmux", "attach", session.name) as client:
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)
        yield client


EVERYTHING = (
    HOSTILE
    + """\
set -g default-terminal "vt100"
set -g default-size 20x5
set -g prefix None
set -g allow-rename on
set -g automatic-rename-format "#{pane_current_command}"
set -g set-titles on
set -g detach-on-destroy off
set -g history-limit 0
set -g escape-time 5000
set -g focus-events on
set -g mouse on
set -g assume-paste-time 0
set -g bell-action any
set -g visual-bell both
set -g visual-activity both
set -g monitor-activity on
set -g monitor-bell on
set -g monitor-silence 1
set -g activity-action any
set -g silence-action any
set -g update-environment "PATH HOME AGENTMUX_SESSION_ID AGENTMUX_SEAT TERM"
set -g lock-after-time 1
set -g lock-command false
set -g main-pane-width 200
set -g main-pane-height 1
set -g other-pane-width 300
set -g other-pane-height 300
set -g set-clipboard on
set -g terminal-overrides "*:am@:smcup@:rmcup@"
set -g pane-border-status bottom
set -g pane-border-lines double
set -g alternate-screen off
set -g cursor-style blinking-bar
set -g buffer-limit 1
set -g extended-keys always
set -g window-style "bg=red,fg=red"
set -g allow-passthrough on
set -g editor /bin/false
set -g key-table nothing
set -g backspace C-h
set -g remain-on-exit-format gone
set-environment -g AGENTMUX_SESSION_ID nonsense
set-environment -g AGENTMUX_SEAT nonsense
set-environment -g TMUX_TMPDIR /nonexistent
set-hook -ga after-new-session 'set -g @made 1'
set-hook -ga after-new-session 'split-window -d cat ; new-window -d cat'
set-hook -ga after-new-window 'kill-pane -a'
set-hook -ga after-new-window 'rename-window mine'
set-hook -ga session-created 'split-window -d cat'
set-hook -g client-attached 'kill-pane'
set-hook -g client-resized 'select-layout tiled'
set-hook -g window-renamed 'run-shell true'
set-hook -g after-select-pane 'resize-pane -Z'
set-hook -g after-kill-pane 'run-shell true'
set-hook -g pane-exited 'run-shell false'
set-hook -ga pane-died 'respawn-pane'
set-hook -g alert-silence 'run-shell true'
bind -n Enter display-message eaten
bind -n y kill-server
"""
)
"""All settings together that break programs which rely on defaults."""


@pytest.mark.rare("tests/adapters/tmux runs under hostile settings, too")
def test_under_every_hostile_setting_at_once(project: Project) -> None:
    (project.home / ".tmux.conf").write_text(EVERYTHING)
    project.scenario(
        {
            "roles": {
                "architect": {"reviewers": ["logic", "quality"]},
                "reviewer_logic": {
                    "attempts": [{"when": {"iteration": 0}, "verdict": "fail"}],
                },
            }
        }
    )
    session = project.start("add a greeting", "--role", "planner=demo-paste").wait()
    assert session.launched()[:4] == ["architect", "planner", "coder-1", "coder-2"]
    project.ok("stop", session.name)
    project.ok("resume", session.name, "--detach")
    session.approve().gone()
    assert project.git("status", "--porcelain") == ""


def test_the_users_own_sessions_are_left_alone(project: Project, wait_until: WaitUntil) -> None:
    project.tmux("new-session", "-d", "-s", "mine", "-x", "100", "-y", "30", "cat")
    before = project.tmux("show-options", "-g") + project.tmux("show-options", "-s")
    hooks = project.tmux("show-hooks", "-g")
    session = project.start().wait().approve()
    wait_until(lambda: project.tmux("list-sessions", "-F", "#{session_name}") == "mine\n")
    assert project.tmux("show-options", "-g") + project.tmux("show-options", "-s") == before
    assert project.tmux("show-hooks", "-g") == hooks
    assert session.state["phase"] == "done"


def test_from_inside_tmux(project: Project, wait_until: WaitUntil) -> None:
    project.tmux("new-session", "-d", "-s", "mine", "-x", "80", "-y", "24", "sh")
    before = options(project)
    with Client(project, "tmux", "attach", "-t", "=mine") as client:
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)
        typed = f"{AGENTMUX} start --agent demo --attach --yes 'from inside'"
        project.tmux("send-keys", "-t", "=mine:", "-l", typed)
        project.tmux("send-keys", "-t", "=mine:", "Enter")

        # The user's client switches to the session; tmux never runs inside tmux.
        def switched() -> bool:
            return "agentmux-" in project.tmux("list-clients", "-F", "#{client_session}")

        wait_until(switched, 20, lambda: project.tmux("capture-pane", "-p", "-t", "=mine:"))
        session = Session(project, project.sessions()[0]).wait()
        assert options(project) == before  # our options do not apply to the user's session
        wait_until(
            lambda: "C-b L goes back (mine)" in monitor(session), 10, lambda: monitor(session)
        )

        def shell() -> str:
            return project.tmux("capture-pane", "-Jp", "-t", "=mine:")

        assert "back here: C-b L" in shell()
        client.press("\x02L")  # whoever comes back is told how it stands, and types on
        wait_until(lambda: "next: agentmux approve" in shell(), 10, shell)
        project.tmux("send-keys", "-t", "=mine:", f"{AGENTMUX} attach", "Enter")
        wait_until(switched, 20, shell)
        session.approve()
        project.tmux("select-pane", "-t", monitor_pane(session))
        wait_until(lambda: "any key" in monitor(session), 20, lambda: monitor(session))
        client.press("q")
        wait_until(lambda: project.tmux("list-sessions", "-F", "#{session_name}") == "mine\n")
        # The user's client is back in its own session, and still attached.
        assert project.tmux("list-clients", "-F", "#{client_session}") == "mine\n"
        assert client.process.poll() is None
        told = f"session {session.short} is done: commit {project.git('rev-parse', 'HEAD')[:12]}"
        wait_until(lambda: told in shell().replace("\n", ""), 10, shell)
        wait_until(lambda: told in client.said, 10, lambda: client.said)  # tmux's own message


@pytest.mark.rare("CI runs every hostile setting at once")
def test_who_came_from_a_session_that_is_gone_stays_in_tmux(
    project: Project, wait_until: WaitUntil
) -> None:
    for name in ("another", "mine"):
        project.tmux("new-session", "-d", "-s", name, "-x", "80", "-y", "24", "sh")
    session = project.start().wait()
    began = int(
        project.tmux("display-message", "-pt", f"={tmux_name(session)}:", "#{session_created}")
    )
    wait_until(lambda: time.time() >= began + 1)
    with Client(project, "tmux", "attach", "-t", "=mine") as client:  # younger than our session
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)
        project.tmux("send-keys", "-t", "=mine:", f"{AGENTMUX} attach", "Enter")
        wait_until(lambda: "goes back (mine)" in monitor(session), 20, lambda: monitor(session))
        wait_until(
            lambda: project.tmux("show-options", "-vqt", tmux_name(session), "@agentmux_guests")
        )
        project.tmux("kill-session", "-t", "=mine")
        project.ok("stop", session.name)
        assert project.tmux("list-clients", "-F", "#{client_session}") == "another\n"
        wait_until(lambda: "to go on: agentmux resume " in client.said, 10, lambda: client.said)
        assert client.process.poll() is None


def test_inside_the_session_itself_a_command_goes_to_the_monitor_and_waits_for_nothing(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")
    ours = f"={tmux_name(session)}:"
    with Client(project, "tmux", "attach", "-t", ours, size=(120, 30)) as client:
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)
        project.tmux("new-window", "-t", ours, "-n", "mine", "sh")

        def shell() -> str:
            return project.tmux("capture-pane", "-Jp", "-t", f"{ours}=mine")

        def is_at_the_monitor() -> bool:
            return project.tmux("display-message", "-p", "#{pane_id}").strip() == monitor_pane(
                session
            )

        os.kill(session.runtime["pid"], signal.SIGKILL)
        for words in (f"resume --reattach {session.short}", "attach"):
            project.tmux("select-window", "-t", f"{ours}=mine")
            project.tmux("send-keys", "-t", f"{ours}=mine", f"{AGENTMUX} {words}; echo =$?=")
            project.tmux("send-keys", "-t", f"{ours}=mine", "Enter")
            wait_until(is_at_the_monitor, 20, shell)
            wait_until(lambda: "=0=" in shell(), 10, shell)
            project.tmux("send-keys", "-t", f"{ours}=mine", "clear", "Enter")
            wait_until(lambda: "=0=" not in shell(), 10, shell)
        wait_until(lambda: "architecting" in monitor(session), 10, lambda: monitor(session))
    assert session.launched() == ["architect"]


@pytest.mark.rare("CI runs every hostile setting at once")
def test_what_to_type_after_a_kill_needs_no_name(project: Project, wait_until: WaitUntil) -> None:
    """It means the session whose orchestrator is lost; of several that in whose tmux it is typed.

    Enter in the picker does the same, and then attaches.
    """
    project.scenario({"roles": {"architect": {"silent": True}}})
    sessions = [project.start(name).until_seat("architect") for name in ("one", "two")]

    def is_dead(pid: int) -> bool:
        return not is_alive(pid, 0)

    def kill(*names: str) -> None:
        for each in project.json("status")["sessions"]:
            if each["session"] in names:
                os.kill(each["orchestrator"], signal.SIGKILL)
                wait_until(partial(is_dead, each["orchestrator"]))

    def lost() -> set[str]:
        found = project.json("status")["sessions"]
        return {each["session"] for each in found if each["orchestrator"] is None}

    one, two = (each.name for each in sessions)
    kill(one)
    project.ok("resume", "--reattach", "--detach")
    assert not lost()

    kill(one, two)
    assert "there are several sessions" in project.fails(4, "resume", "--reattach", "--detach")
    project.tmux("new-window", "-t", f"={tmux_name(sessions[1])}:", "-n", "mine", "sh")
    shell = f"={tmux_name(sessions[1])}:=mine"
    project.tmux("send-keys", "-t", shell, f"{AGENTMUX} resume --reattach --detach", "Enter")
    wait_until(
        lambda: lost() == {one}, 20, lambda: project.tmux("capture-pane", "-Jp", "-t", shell)
    )

    with Client(project, *shlex.split(AGENTMUX), "resume", size=(120, 30)) as client:
        wait_until(lambda: "Enter" in client.said, 10, lambda: client.said)
        client.press("/one")
        wait_until(lambda: "Enter reattach" in client.said, 10, lambda: client.said)
        client.press("\r")
        wait_until(lambda: not lost(), 20, lambda: client.said)
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)


@pytest.mark.rare("CI runs every hostile setting at once")
def test_resume_without_a_name_attaches_to_a_session_that_runs(
    project: Project, wait_until: WaitUntil
) -> None:
    """Whether it is the only one, or is picked; with its name, ``resume`` refuses as ever."""
    project.scenario({"roles": {"architect": {"silent": True}}})

    def resume(name: str, keys: str) -> None:
        with Client(project, *shlex.split(AGENTMUX), "resume", size=(120, 30)) as client:
            if keys:
                wait_until(lambda: "Enter" in client.said, what=lambda: client.said)
                client.press(f"/{name}")
                wait_until(lambda: "Enter attach" in client.said, what=lambda: client.said)
                client.press(keys)
            wait_until(lambda: project.tmux("list-clients"), what=lambda: client.said)
            (shown,) = project.tmux("list-clients", "-F", "#{client_session}").splitlines()
            assert shown == tmux_name(sessions[name])
        wait_until(lambda: not project.tmux("list-clients"))

    sessions = {"one": project.start("one").until_seat("architect")}
    resume("one", "")
    assert "is still active" in project.fails(3, "resume", sessions["one"].name, "--detach")
    sessions["two"] = project.start("two").until_seat("architect")
    resume("one", "\r")
    assert all(each.launched() == ["architect"] for each in sessions.values())


def test_agents_have_the_environment_of_the_command(
    project: Project, wait_until: WaitUntil
) -> None:
    """The tmux server may be older, and may lack variables that the shell has exported since."""
    older = {**project.env, "LATER": "no", "ONLY_THERE": "1", "TERM": "screen"}
    project.program("tmux", "new-session", "-d", "-s", "mine", "cat", env=older)
    key = "s'p\"a ce;$(touch x) #{pid}\n\\101é\U0001f600 "
    shell = {**project.env, "LATER": key, "EMPTY": ""}
    project.scenario({"roles": {"architect": {"silent": True}}})
    answer = project.json("start", "--agent", "demo", "x", env=shell)
    session = Session(project, project.path / answer["path"]).until_seat("architect")

    def agents() -> dict[str, str]:
        listed = project.tmux("list-panes", "-a", "-F", "#{pane_pid} #{@agentmux_seat}")
        wrapper = next(
            (line.split()[0] for line in listed.splitlines() if "architect" in line), "0"
        )
        return environ_of(child_of(int(wrapper)))

    wait_until(lambda: "AGENTMUX_SEAT" in agents(), 20)
    seen = agents()
    assert (seen["LATER"], seen["EMPTY"], seen["TERM"][:4]) == (key, "", "tmux")
    assert "ONLY_THERE" not in seen
    for path in everything(session.path):
        with suppress(FileNotFoundError):  # replaced by the live session meanwhile
            assert not path.is_file() or b"touch x" not in path.read_bytes(), path
    assert "ONLY_THERE=1" in project.tmux("show-environment", "-g")

    project.ok("stop", session.name)
    project.ok("resume", "--yes", "--detach", session.name, env={**shell, "LATER": "new"})
    session.until_seat("architect")
    wait_until(lambda: agents().get("LATER") == "new", 20)


def environ_of(pid: int) -> dict[str, str]:
    data = b""
    with suppress(OSError):  # no such process, or it has ended meanwhile
        data = Path(f"/proc/{pid}/environ").read_bytes()
    rows = (row.partition("=") for row in data.decode().split("\0") if row)
    return {name: value for name, _, value in rows}


@pytest.mark.rare("CI runs every hostile setting at once")
def test_the_monitor_keeps_its_width_from_phase_to_phase(project: Project) -> None:
    session = project.start().until_seat("architect")
    listen = ("tmux", "-C", "attach", "-f", "ignore-size,no-output", "-t", f"={tmux_name(session)}")
    with subprocess.Popen(
        listen, env=project.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ear:
        assert ear.stdin is not None
        assert ear.stdout is not None
        session.wait()
        ear.stdin.write("display-message -p heard-all\n")
        ear.stdin.flush()
        heard = list(iter(ear.stdout.readline, "heard-all\n"))
        ear.stdin.close()
    # %layout-change @0 CHECKSUM,220x60,0,0{64x60,0,0,0,… with the monitor as the first pane
    # tmux 3.8 also tells of windows in the background.
    window = project.tmux("display-message", "-p", "-t", monitor_pane(session), "#{window_id}")
    told = f"%layout-change {window.strip()} "
    sizes = [re.findall(r"(\d+)x\d+", line.split()[2]) for line in heard if line.startswith(told)]
    beside = [widths[1] for widths in sizes if len(widths) > 1]
    assert len(beside) > 3, heard
    # When the first agent comes, tmux 3.8 also tells of the halves before the layout in one call.
    assert set(beside[beside.index("64") :]) == {"64"}
    alone = [len(widths) == 1 for widths in sizes]
    since = alone[alone.index(False) :]  # it may have been heard before the first agent came
    assert since == sorted(since), "it is alone only after the last agent"


def test_inside_another_server_it_says_what_to_type(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start()
    with Client(
        project, "env", "TMUX=/tmp/other,1,0", sys.executable, "-m", "agentmux", "attach"
    ) as client:
        assert client.process.wait(60) == 2
    assert "another tmux server" in client.said
    assert "attach-session" in client.said
    assert session.state["phase"] == "architecting"
    # A $TMUX of a server that has ended is no hindrance.
    stale = f"TMUX={project.tmux('display-message', '-p', '#{socket_path}').strip()},99999999,0"
    with Client(project, "env", stale, sys.executable, "-m", "agentmux", "attach") as client:
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)


def test_a_pane_that_came_while_the_window_was_zoomed_is_shown_afterwards(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")

    def beside() -> bool:
        launch = session.state["seats"]["architect"]["launch"]
        return [launch] in panes(session, "#{@agentmux_launch}")

    wait_until(beside, 10)
    before = session.state["seats"]["architect"]["launch"]
    project.tmux("select-pane", "-t", monitor_pane(session))
    project.tmux("resize-pane", "-Z", "-t", monitor_pane(session))
    (wrapper,) = panes(session, "#{pane_pid} #{@agentmux_seat}")[-1:]
    os.kill(child_of(int(wrapper[0])), signal.SIGKILL)  # it is launched again
    wait_until(lambda: session.state["seats"]["architect"]["launch"] != before, 20)
    session.until_seat("architect").settled("architect")
    assert not beside()
    assert ["1"] in panes(session, "#{window_zoomed_flag}")  # the user's zoom is left alone
    project.tmux("resize-pane", "-Z", "-t", monitor_pane(session))
    wait_until(beside, 15, lambda: str(panes(session)))


def test_a_session_that_a_hook_renames_is_not_left_behind(project: Project) -> None:
    project.tmux("new-session", "-d", "-s", "mine", "cat")
    project.tmux("set-hook", "-g", "after-new-session", "rename-session x")
    said = project.run("start", "--agent", "demo", "x")
    assert said.returncode != 0
    assert project.tmux("list-sessions", "-F", "#{session_name}") == "mine\n"
    assert project.sessions() == []


def active_seat(project: Project) -> str:
    """Return the seat whose pane gets the keys of the attached client."""
    return project.tmux("display-message", "-p", "#{@agentmux_seat}").strip()


@pytest.mark.rare("CI runs every hostile setting at once")
def test_a_small_terminal_shows_all_that_matters(project: Project, wait_until: WaitUntil) -> None:
    held = {"silent": True}
    project.scenario({"roles": {"planner": {"plan": {"parts": 5}}, "coder": held}})
    session = project.start().until_seat("coder-5")
    with attached(session, wait_until) as client:
        wait_until(lambda: len(panes(session)) == 5, 10, lambda: str(panes(session)))
        sizes = [tuple(map(int, line[:4])) for line in panes(session)]
        for width, height, left, top in sizes:
            assert width >= 20, sizes
            assert height >= 3, sizes
            assert left + width <= 80, sizes
            assert top + height <= 24, sizes
        for said in ("implementing", "coder-1"):
            wait_until(lambda said=said: said in monitor(session), 10, lambda: monitor(session))
        for key in ("2", "5"):  # beside the monitor, and in a window of its own
            project.tmux("select-window", "-t", monitor_pane(session))
            project.tmux("select-pane", "-t", monitor_pane(session))
            client.press(key)
            wait_until(lambda key=key: active_seat(project) == f"coder-{key}", 10)
        assert client.process.poll() is None
    (seen,) = project.json("status")["sessions"]
    assert seen["live"] is True


def test_two_keys_approve_and_it_stays_until_another(
    project: Project, wait_until: WaitUntil
) -> None:
    session = project.start().wait()
    with attached(session, wait_until) as client:
        project.tmux("select-pane", "-t", monitor_pane(session))
        client.press("a")
        files = "to commit 2 files on main: demo_part_1.py, tests/test_demo_part_1.py"

        def asked() -> bool:
            said = " ".join(monitor(session).split())
            return "press a again" in said and files in said

        wait_until(asked, 10, lambda: monitor(session))
        said = " ".join(monitor(session).split())
        assert "2 files changed" in said
        client.press("x")
        wait_until(lambda: "press a again" not in monitor(session), 5, lambda: monitor(session))
        client.press("a")
        client.press("q")
        assert "approve" not in session.kinds()
        client.press("a")
        wait_until(asked, 10, lambda: monitor(session))
        client.press("a")
        wait_until(lambda: session.state["phase"] == "done", 20, lambda: monitor(session))
        wait_until(lambda: "any key" in monitor(session), 10, lambda: monitor(session))
        assert client.process.poll() is None
        (seen,) = project.json("status", session.name)["sessions"]
        assert (seen["phase"], seen["live"]) == ("done", True)
        said = project.ok("stop", session.name)  # as any key does
        assert said == f"stopped {session.short}, which is done\n"
        wait_until(lambda: client.process.poll() is not None, 10, lambda: client.said)
    session.gone()
    assert project.git("log", "-1", "--format=%s") == "add a greeting\n"


@pytest.mark.rare("CI runs every hostile setting at once")
def test_who_comes_back_from_the_end_is_told_of_it(project: Project, wait_until: WaitUntil) -> None:
    words = (sys.executable, "-m", "agentmux", "start", "--agent", "demo", "--yes", "say hello")
    with Client(project, *words) as client:
        wait_until(lambda: "\x1b[?1049h" in client.said, 20, lambda: client.said)  # tmux is shown
        session = Session(project, project.sessions()[0]).wait()
        project.tmux("select-pane", "-t", monitor_pane(session))
        client.press("a")
        wait_until(lambda: "press a again" in monitor(session), 10, lambda: monitor(session))
        client.press("a")
        wait_until(lambda: "any key" in monitor(session), 20, lambda: monitor(session))
        client.press("q")
        told = client.ended(0).rpartition("[exited]")[2]
    made = project.git("rev-parse", "HEAD")[:12]
    assert told.split() == f"session {session.short} is done: commit {made}".split()
    assert "watch it" not in client.said


@pytest.mark.rare("CI runs every hostile setting at once")
def test_who_loses_the_tmux_server_is_told_how_to_go_on(
    project: Project, wait_until: WaitUntil
) -> None:
    session = project.start().wait()
    server = int(project.tmux("display-message", "-p", "#{pid}"))
    with Client(project, sys.executable, "-m", "agentmux", "attach") as client:
        wait_until(lambda: "\x1b[?1049h" in client.said, 20, lambda: client.said)
        os.kill(server, signal.SIGKILL)
        told = client.ended(1).rpartition("\x1b[?1049l")[2]  # the shell's own screen is back
    assert f"to go on: agentmux resume {session.short}" in told
    assert "watch it" not in told


@pytest.mark.rare("CI runs every hostile setting at once")
@pytest.mark.parametrize("inside", [False, True])
def test_who_kills_the_session_is_told_of_its_end(
    project: Project, wait_until: WaitUntil, *, inside: bool
) -> None:
    """The words wait for the orchestrator, which is held up here while it ends."""
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")
    orchestrator = session.runtime["pid"]
    words = (sys.executable, "-m", "agentmux", "attach")
    if inside:
        project.tmux("new-session", "-d", "-s", "mine", "-x", "200", "-y", "24", "sh")
        words = ("tmux", "attach", "-t", "=mine")

    def said() -> str:
        return project.tmux("capture-pane", "-Jp", "-t", "=mine:") if inside else client.said

    def is_attached() -> bool:
        return tmux_name(session) in project.tmux("list-clients", "-F", "#{client_session}")

    def is_told_or_waits() -> bool:
        with suppress(ProcessLookupError):  # the kernel continues a process whose terminal goes
            os.kill(orchestrator, signal.SIGSTOP)
        return f"session {session.short} is" in said() or waits_for_a_process(attach)

    with Client(project, *words) as client:
        wait_until(lambda: project.tmux("list-clients"), 20, said)
        attach = client.process.pid
        if inside:
            project.tmux("send-keys", "-t", "=mine:", f"clear; {AGENTMUX} attach", "Enter")
        wait_until(is_attached, 20, said)
        if inside:
            wait_until(lambda: "back here: " in said(), 20, said)
            attach = child_of(int(project.tmux("display-message", "-pt", "=mine:", "#{pane_pid}")))
        project.tmux("kill-session", "-t", f"={tmux_name(session)}")
        try:
            wait_until(is_told_or_waits, 20, said)
        finally:
            with suppress(ProcessLookupError):
                os.kill(orchestrator, signal.SIGCONT)
        wait_until(lambda: f"session {session.short} is interrupted" in said(), 20, said)
        wait_until(lambda: f"next: agentmux resume {session.short}" in said(), 20, said)


def waits_for_a_process(pid: int) -> bool:
    """Whether a process waits for the end of another one."""
    with suppress(OSError):
        opened = Path(f"/proc/{pid}/fd").iterdir()
        return any("[pidfd]" in str(each.readlink()) for each in opened)
    return False


def test_changes_are_asked_for_by_keys(project: Project, wait_until: WaitUntil) -> None:
    session = project.start().wait()
    with attached(session, wait_until) as client:
        project.tmux("select-pane", "-t", monitor_pane(session))

        def says(text: str) -> None:
            wait_until(lambda: text in " ".join(monitor(session).split()), 10, monitor(session))

        client.press("c")
        says("What should change?")
        says("one coder, then the reviews and the summary); Tab: implementing instead")
        client.press("never minded")
        says("> never minded")
        client.press("\x1b")
        wait_until(lambda: "never minded" not in monitor(session), 10, lambda: monitor(session))
        client.press("c")
        says("What should change?")
        client.press("greet  the$(moon)x\x7f")
        says("> greet the$(moon)")
        client.press("\r")  # may be meant for another pane that closed while the user typed
        says("press Enter again within 10 s")
        says("the next cycle begins in fixing")
        assert not session.kinds("request_changes")
        client.press("\r")
        wait_until(lambda: session.state["cycle"] == 2, 20, lambda: monitor(session))
        (asked,) = [each for each in session.events if each["event"] == "request_changes"]
        assert (asked["seat"], asked["payload"]["text"]) == ("user", "greet  the$(moon)")
    project.ok("stop", session.name)


def test_one_ctrl_c_ends_nothing(project: Project, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")
    with attached(session, wait_until) as client:
        project.tmux("select-pane", "-t", monitor_pane(session))
        client.press("\x03")
        wait_until(lambda: "Ctrl-C again" in monitor(session), 10, lambda: monitor(session))
        client.press("\x1a\x1c")  # Ctrl-Z and Ctrl-\ end nothing, and cancel the first Ctrl-C
        client.press("\x03")
        client.press("\x03")
        for said in ("resume --reattach", "the orchestrator has ended"):
            wait_until(
                lambda said=said: said in " ".join(monitor(session).split()),
                10,
                lambda: monitor(session),
            )
    project.ok("resume", "--reattach", session.name, "--detach")
    assert session.launched() == ["architect"]


def test_in_a_terminal_start_asks_before_a_second_feature(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {**QUICK["roles"], "architect": {"silent": True}}})
    first = project.start("first")
    project.ok("stop")
    start = ("start", "--agent", "demo", "--detach", "--no-worktree", "second")
    with Client(project, sys.executable, "-m", "agentmux", *start) as client:
        wait_until(lambda: "Start anyway?" in client.said, 20, lambda: client.said)
        client.press("n\r")
        wait_until(lambda: client.process.poll() is not None, 10, lambda: client.said)
    assert project.sessions() == [first.path]
    assert "Traceback" not in client.said


def test_in_a_terminal_start_says_one_line_and_the_monitor_says_the_rest(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    start = ("start", "--agent", "demo", "add a greeting")
    with Client(project, sys.executable, "-m", "agentmux", *start) as client:
        wait_until(lambda: "\x1b" in client.said, 30, lambda: client.said)  # tmux draws
        told, drawn, _ = client.said.partition("\x1b")
        assert re.fullmatch(
            rf"add-a-greeting: demo in {re.escape(str(project.path))}; it runs 5 agents or more, "
            r"\d+ kB of prompts; back to this shell: C-b d ",
            " ".join(told.split()) + " ",
        )
        assert drawn
        session = Session(project, *project.sessions())
        for told in (
            "nothing will be verified",
            "agentmux init --checks",
            "pipelines show feature",
        ):
            wait_until(
                lambda told=told: told in " ".join(monitor(session).split()),
                20,
                lambda: monitor(session),
            )


def test_without_a_terminal_nothing_is_asked(project: Project) -> None:
    session = project.start().wait()
    project.ok("stop", session.name)
    before = project.tree()
    assert "--yes" in project.fails(2, "remove", session.name)
    assert "--yes" in project.fails(2, "resume", session.name, "--phase", "planning")
    assert project.tree() == before


def test_removing_asks_and_no_is_the_default(project: Project, wait_until: WaitUntil) -> None:
    session = project.start().wait()
    project.ok("stop", session.name)
    before = project.tree()
    for answer, there in (("\r", True), ("n\r", True), ("y\r", False)):
        words = (sys.executable, "-m", "agentmux", "remove", session.name)
        with Client(project, *words) as client:
            wait_until(lambda said=client: "Remove" in said.said, 20, client.said)
            client.press(answer)
            assert client.process.wait(60) == (130 if there else 0)
        assert session.path.exists() is there
        if there:
            assert project.tree() == before
    assert project.sessions() == []
