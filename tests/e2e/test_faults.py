"""Faults of the machine: floods of output, hang-ups, lost folders, few file descriptors."""

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Client, Project, Session
from tests.hints.following import shown, went_well

pytestmark = pytest.mark.long

SILENT = {"roles": {**QUICK["roles"], "architect": {"silent": "until-told"}}}


@pytest.fixture
def silent(project: Project) -> Session:
    """A live session whose architect has its prompt but does nothing."""
    project.scenario(SILENT)
    return project.start().until_seat("architect").settled("architect")


@pytest.fixture
def stopped(silent: Session) -> Session:
    """The session `silent`, stopped by its user."""
    silent.project.ok("stop", silent.name)
    return silent.gone()


def orchestrator(session: Session) -> int:
    return int(session.runtime["orchestrator_pid"])


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


# -- permissions ---------------------------------------------------------------------------------


@pytest.fixture
def forbidden(stopped: Session) -> Iterator[Session]:
    """A session whose directory is read-only."""
    stopped.path.chmod(0o500)
    yield stopped
    stopped.path.chmod(0o700)


def ordinary(*words: str) -> list[str]:
    """Return the argv of an agentmux command that obeys file modes, even if run as root."""
    argv = [sys.executable, "-m", "agentmux", *words]
    return argv if os.geteuid() else ["setpriv", "--bounding-set=-dac_override", *argv]


def test_read_only_folders_are_removed_with_a_session(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    tree = Path(session.state["worktree"])
    project.ok("stop", session.name)
    for folder in (tree / "pkg" / "mod", session.path / "cache" / "mod"):  # as Go leaves them
        folder.mkdir(parents=True)
        (folder / "go.mod").write_text("module x\n")
        folder.chmod(0o500)
    done = project.program(*ordinary("remove", session.name, "--force", "--yes"))
    assert done.returncode == 0, done.stderr
    assert not tree.parent.exists()
    assert project.sessions() == []


def test_where_nothing_can_be_written_looking_works_and_a_resume_is_refused(
    forbidden: Session,
) -> None:
    project, name = forbidden.project, forbidden.name
    before = project.tree()

    for words in (["status", name], ["list"], ["logs", name], ["resume", "--dry-run", name]):
        done = project.program(*ordinary(*words))
        assert done.returncode == 0, done.stderr
    done = project.program(*ordinary("resume", name, "--yes", "--detach"))

    assert done.returncode == 5, done.stderr
    assert done.stderr.startswith("error: ")
    assert str(forbidden.path) in done.stderr
    assert project.tree() == before
    assert not project.processes()


@pytest.mark.parametrize("there", [True, False], ids=["is there", "is gone"])
def test_a_git_directory_that_cannot_be_written_is_named_by_resume_and_doctor(
    project: Project, there: bool
) -> None:
    project.scenario(SILENT)
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    project.ok("stop", session.name)
    if not there:
        shutil.rmtree(session.state["worktree"])
    git = project.path / ".git"
    folders = [git, *(each for each in git.rglob("*") if each.is_dir())]
    for each in folders:
        each.chmod(0o500)
    done = project.program(*ordinary("resume", session.name, "--yes", "--detach"))
    found = project.program(*ordinary("doctor")).stdout
    for each in folders:
        each.chmod(0o700)
    assert done.returncode == 5, done.stderr
    assert f"error: cannot write `{git}" in done.stderr
    assert f"see who owns it: ls -ld {git}" in done.stderr
    assert "problem  git " in found
    assert f"cannot write `{git}" in found


def read_only(project: Project, *words: str) -> tuple[str, ...]:
    """Return the argv of an agentmux command that finds the project mounted read-only."""
    alone = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
    agentmux = (sys.executable, "-m", "agentmux", *words)
    return (*alone, "sh", "-c", mount, str(project.path), *agentmux)


@pytest.mark.rare("CI looks where nothing can be written")
def test_on_a_read_only_file_system_looking_works_and_the_rest_is_refused(
    silent: Session, wait_until: WaitUntil
) -> None:
    project, name = silent.project, silent.name
    looked = project.program(*read_only(project, "status", "--json"))
    if "mount: " in looked.stderr or "unshare: " in looked.stderr:
        pytest.skip("this user may not mount anything")
    (seen,) = json.loads(looked.stdout)["sessions"]
    assert (seen["live"], seen["status"]) == (True, "stalled")
    assert any("read-only" in problem for problem in seen["problems"])
    for words in (["list"], ["logs", name], ["show", name]):
        done = project.program(*read_only(project, *words))
        assert done.returncode == 0, done.stderr
    with Client(project, *read_only(project, "attach", name)) as client:
        wait_until(lambda: project.tmux("list-clients"), 10, lambda: client.said)

    remedy = f"mount -o remount,rw {project.path}"
    done = project.program(*read_only(project, "approve", name, "--yes"))
    assert (done.returncode, remedy in done.stderr) == (5, True), done.stderr
    project.ok("stop", name)
    before = project.tree()
    done = project.program(*read_only(project, "resume", name, "--yes", "--detach"))
    assert (done.returncode, remedy in done.stderr) == (5, True), done.stderr
    assert project.tree() == before


@pytest.mark.parametrize("forced", [False, True])
def test_a_stop_that_cannot_save_the_files_says_so(
    silent: Session, wait_until: WaitUntil, *, forced: bool
) -> None:
    project, name = silent.project, silent.name
    if forced:
        pid = orchestrator(silent)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), 10)
    shutil.rmtree(silent.path / "work-tree", ignore_errors=True)
    (silent.path / "work-tree").write_text("here, nobody can write a file, not even root\n")
    done = project.program(sys.executable, "-m", "agentmux", "stop", name)
    assert done.returncode == 0, done.stderr
    assert "warning: the files were not saved in a work-tree checkpoint: " in done.stderr
    assert "file exists" in done.stderr
    (silent.path / "work-tree").unlink()
    project.ok("resume", name, "--yes", "--detach")
    said = project.program(sys.executable, "-m", "agentmux", "stop", name)
    assert "warning" not in said.stderr


def test_a_resume_waits_for_an_orchestrator_that_is_about_to_end(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start().until_seat("architect").settled("architect")
    # The orchestrator saves the work tree before it ends, which takes as long as this filter does.
    go = project.root / "go"
    project.git("config", "filter.slow.clean", f"while test ! -e {go}; do sleep 0.05; done; cat")
    (project.path / ".gitattributes").write_text("slow.txt filter=slow\n")
    (project.path / "slow.txt").write_text("slow\n")
    os.kill(int(project.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    words = (sys.executable, "-m", "agentmux", "resume", session.name, "--detach", "--yes")
    resuming = subprocess.Popen(words, cwd=project.path, env=project.env)

    def waits() -> bool:
        if resuming.poll() is not None:
            return True  # it was refused
        with suppress(FileNotFoundError):  # closed meanwhile
            held = Path(f"/proc/{resuming.pid}/fd").iterdir()
            return any("pidfd" in str(each.readlink()) for each in held)
        return False

    try:
        wait_until(waits, 20)
        go.touch()
        assert resuming.wait(60) == 0
    finally:
        resuming.kill()
        resuming.wait()
    session.until_seat("architect")


def test_all_that_a_session_leaves_is_private(project: Project) -> None:
    session = project.start().wait()
    project.ok("stop", session.name)  # so that nothing is replaced while we look
    # The agent chooses the modes of its own files; the folder above keeps them private.
    by_agents = {"architecture.md", "plan.yaml", "review_logic.yaml", "summary.md"}
    paths = [session.path, *session.path.rglob("*")]
    ours = [path for path in paths if path.name not in by_agents]

    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in ours}
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


# -- few descriptors -----------------------------------------------------------------------------


@pytest.mark.rare("what only hours of work would bring about")
def test_with_few_descriptors_a_look_fails_cleanly_or_not_at_all(stopped: Session) -> None:
    before = stopped.project.tree()
    codes = []
    for count in (6, 8, 10, 12, 16, 24):
        limits = (count, count)
        done = stopped.project.run(
            *("resume", "--dry-run", "--json", stopped.name),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits),  # noqa: B023
        )
        codes.append(done.returncode)

    assert codes[0] in {5, 6}
    assert codes[-1] == 0
    assert set(codes) <= {0, 5, 6}
    assert stopped.project.tree() == before


@pytest.mark.rare("what only hours of work would bring about")
def test_an_orchestrator_keeps_no_more_descriptors_from_cycle_to_cycle(
    project: Project, wait_until: WaitUntil
) -> None:
    session = project.start().wait()
    pid, before = orchestrator(session), descriptors(orchestrator(session))

    project.ok("request-changes", "make it shorter", "--session", session.name)
    session.until_seat("architect").wait()

    assert orchestrator(session) == pid
    assert session.state["cycle"] == 2
    wait_until(lambda: descriptors(pid) <= before, 10, lambda: f"{descriptors(pid)} > {before}")


# -- removed temporary files ---------------------------------------------------------------------


@pytest.mark.rare("what only hours of work would bring about")
def test_what_temporary_folders_held_is_not_needed_to_resume(
    project: Project, wait_until: WaitUntil
) -> None:
    scratch = project.root / "scratch"
    scratch.mkdir()
    project.env |= {"TMPDIR": str(scratch), "XDG_RUNTIME_DIR": str(scratch)}
    project.scenario(SILENT)
    session = project.start().until_seat("architect").settled("architect")
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)

    shutil.rmtree(scratch)
    shutil.rmtree(project.root / f"tmux-{os.getuid()}")
    shutil.rmtree(project.home / "cache", ignore_errors=True)

    (planned,) = project.json("resume", "--dry-run", session.name)["sessions"]
    assert [pane["mode"] for pane in planned["panes"]] == ["native"]
    project.ok("resume", session.name, "--yes", "--detach")
    session.until_seat("architect")


@pytest.mark.follows("bring the socket back: … && kill -USR1 …", "mkdir -p -m 700 …")
def test_a_socket_folder_that_was_removed_comes_back_by_what_the_refusal_says(
    project: Project, silent: Session, wait_until: WaitUntil
) -> None:
    shutil.rmtree(project.root / f"tmux-{os.getuid()}")

    said = project.fails(3, "resume", silent.name, "--yes", "--detach")
    (hint,) = [line for line in said.splitlines() if "kill -USR1" in line]
    done = project.program("/bin/sh", "-c", hint.partition(": bring the socket back: ")[2])

    assert done.returncode == 0, done.stderr
    there = ("tmux", "has-session", "-t", f"={silent.state['session_name']}")
    wait_until(lambda: project.program(*there).returncode == 0, 20)  # the server handles SIGUSR1
    wait_until(lambda: project.json("status")["sessions"][0]["status"] == "running", 20)
    assert silent.launched() == ["architect"]


@pytest.mark.follows("mv … …")
def test_a_socket_that_another_server_has_comes_back_and_so_does_the_other(
    project: Project, silent: Session, wait_until: WaitUntil
) -> None:
    (project.root / f"tmux-{os.getuid()}" / "default").unlink()
    project.tmux("new-session", "-d", "-s", "mine", "sleep", "600")

    said = project.fails(3, "resume", silent.name, "--yes", "--detach")
    (hint,) = [line for line in said.splitlines() if "kill -USR1" in line]
    assert "bring the socket back: mv " in hint
    done = project.program("/bin/sh", "-c", hint.partition(": bring the socket back: ")[2])

    assert done.returncode == 0, done.stderr
    there = ("tmux", "has-session", "-t", f"={silent.state['session_name']}")
    wait_until(lambda: project.program(*there).returncode == 0, 20)
    (other,) = [line for line in said.splitlines() if "the other server is then at: " in line]
    for words in ("has-session -t =mine", "kill-server"):
        mine = project.program("sh", "-c", f"{other.partition('then at: ')[2]} {words}")
        assert mine.returncode == 0, mine.stderr


# -- floods and freezes --------------------------------------------------------------------------


def test_an_agent_that_floods_its_pane_harms_nobody(
    project: Project, wait_until: WaitUntil
) -> None:
    user = project.home / "config" / "agentmux"
    user.mkdir(parents=True)
    (user / "config.yaml").write_text(
        "version: 1\nagents: {flood: {command: [yes, flood]}}\nsnapshots: {interval: 1s}\n"
    )
    session = project.start("add a greeting", "--role", "architect=flood")
    kept = session.path / "snapshots" / "architect.json"
    wait_until(kept.exists, 30, lambda: project.run("status").stdout)

    assert resident_kib(orchestrator(session)) < 100_000
    assert kept.stat().st_size < 1_000_000
    assert project.json("status", session.name)["sessions"][0]["orchestrator"]
    project.ok("stop", session.name)
    session.gone()


def test_a_client_that_hangs_up_takes_nothing_along(project: Project, silent: Session) -> None:
    with Client(project, "tmux", "attach", "-t", f"={silent.state['session_name']}") as client:
        names = ("list-clients", "-F", "#{client_pid}")
        while str(client.process.pid) not in project.tmux(*names):
            assert client.process.poll() is None, client.said
        client.process.send_signal(signal.SIGHUP)
        client.process.wait(60)

    silent.project.ok("status", silent.name)
    (row,) = project.json("status")["sessions"]
    assert row["orchestrator"] == orchestrator(silent)
    assert row["status"] == "running"


# -- at the same moment --------------------------------------------------------------------------


def test_of_many_resumes_at_once_one_wins_and_all_others_are_blocked(stopped: Session) -> None:
    project = stopped.project
    words = [sys.executable, "-m", "agentmux", "resume", stopped.name, "--yes", "--detach"]
    racing = [
        subprocess.Popen(
            words,
            cwd=project.path,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    said = [each.communicate(timeout=60)[1] for each in racing]

    assert sorted(each.returncode for each in racing) == [0, 3, 3, 3, 3, 3], said
    assert stopped.kinds("resumed") == ["resumed"]
    stopped.until_seat("architect")
    assert stopped.launched() == ["architect", "architect"]


# -- artifacts after the answer ------------------------------------------------------------------


def test_what_changes_after_it_was_accepted_changes_nothing_that_was_decided(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario({"roles": {**QUICK["roles"], "coder": {"silent": True}}})
    session = project.start().until_seat("coder-1")
    accepted = session.read("04_planning/execution_plan.yaml")
    (session.path / "04_planning" / "plan.yaml").write_text("version: 2\ngroups: []\n")
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)

    (planned,) = project.json("resume", "--dry-run", session.name)["sessions"]
    assert planned["phase"] == "implementing"
    project.ok("resume", session.name, "--yes", "--detach")
    session.until_seat("coder-1")

    assert session.read("04_planning/execution_plan.yaml") == accepted
    assert session.state["subplan_count"] == 1


def test_a_removal_says_that_the_record_outside_of_the_project_stays(stopped: Session) -> None:
    project = stopped.project
    (record,) = project.home.rglob(f"sessions/{stopped.state['session_id']}.json")
    record.parent.chmod(0o500)
    done = project.program(*ordinary("remove", stopped.name, "--force", "--yes"))
    again = project.program(*ordinary("remove", stopped.name, "--yes"))
    record.parent.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert not stopped.path.exists()
    assert f"cannot write `{record}" in done.stderr
    assert (again.returncode, f"cannot write `{record}" in again.stderr) == (5, True), again.stderr
    assert "because its directory" in project.run("list").stderr
    line = shown("do not name it any more: agentmux remove …", done.stderr)
    went_well(project, line)
    assert "because its directory" not in project.run("list").stderr
