"""AgentMux 0.1.0 is replaced, in its place, while its sessions are live."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.app.loop.late_modules import LATE
from agentmux.core.names.version import VERSION
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project, Session, make_root

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
OLD = "829ed143d3417806f4f2130d57ed9950ebe33af1"
"""The last commit of 0.1.0."""

PROGRAMS = {"agentmux": "agentmux.__main__", "agentmux-demo-agent": "agentmux.demo_agent.main"}


class Tool:
    """A virtual environment with AgentMux as an installer leaves it, and the tests' libraries."""

    def __init__(self, folder: Path) -> None:
        """Make it at ``folder``, without AgentMux."""
        argv = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
        self.bin = folder / "bin"
        (self._site,) = folder.glob("lib/python*/site-packages")
        (self._site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
        for name, module in PROGRAMS.items():
            program = self.bin / name
            program.write_text(f"#!{self.bin}/python\nfrom {module} import main\nmain()\n")
            program.chmod(0o755)

    def old(self) -> None:
        """Install 0.1.0."""
        packed = history("archive", "--format=zip", OLD, "agentmux")
        assert packed.returncode == 0, packed.stderr
        with zipfile.ZipFile(io.BytesIO(packed.stdout)) as archive:
            archive.extractall(self._site)

    def upgrade(self) -> None:
        """Put the present version in the place of the installed one."""
        shutil.rmtree(self.place)
        self.install()

    def install(self) -> None:
        """Install the present version."""
        unneeded = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "agentmux", self.place, ignore=unneeded)

    @property
    def place(self) -> Path:
        """The folder of the package."""
        return self._site / "agentmux"


def history(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Ask git about this project, which may belong to another user, as in a container."""
    argv = ["git", "-c", "safe.directory=*", *words]
    return subprocess.run(argv, cwd=ROOT, check=False, capture_output=True)


def tmux_version() -> tuple[int, int]:
    """Return major and minor version of tmux; a build without a number counts as the newest."""
    said = subprocess.run(["tmux", "-V"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (99, 0)


AUDIT = """
import os, sys
if "_orchestrate" in sys.orig_argv:
    log = os.open(os.environ["MODULE_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    def note(event, arguments):
        if event == "exec":
            os.write(log, f"{arguments[0].co_filename}\\n".encode())
    sys.addaudithook(note)
"""


def test_an_orchestrator_soon_loads_what_it_needs_later(
    project: Project, wait_until: WaitUntil
) -> None:
    """Else it would load those modules from a newer release that was installed meanwhile."""
    (project.root / "sitecustomize.py").write_text(AUDIT)
    log = project.root / "modules"
    path = os.pathsep.join((str(project.root), os.environ.get("PYTHONPATH", "")))
    project.env |= {"PYTHONPATH": path, "MODULE_LOG": str(log)}
    project.scenario({"roles": {"architect": {"silent": True}}})
    project.start("add a greeting").settled("architect")
    files = {f"{ROOT / each.replace('.', '/')}.py" for each in LATE}
    wait_until(lambda: files <= set(log.read_text().splitlines()), 20)


@pytest.fixture
def tool() -> Iterator[Tool]:
    if history("cat-file", "-e", f"{OLD}^{{commit}}").returncode != 0:
        pytest.skip("this copy of the project has not the commit of 0.1.0 (git fetch --unshallow)")
    if tmux_version() >= (3, 5):
        pytest.skip("0.1.0 reads no screen on tmux 3.5 and later")
    root = make_root()
    made = Tool(root / "tool")
    made.old()
    yield made
    shutil.rmtree(root)


@pytest.fixture
def old(project: Project, tool: Tool) -> Project:
    """A project in whose PATH 0.1.0 comes first."""
    shutil.rmtree(project.home / "cache")  # of this version's probes
    project.env["PATH"] = f"{tool.bin}:{project.env['PATH']}"
    return project


def installed(project: Project, *words: str) -> str:
    """Run the installed program, which succeeds."""
    done = project.program("agentmux", *words)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def begun(project: Project) -> Session:
    """Start a session with the installed program."""
    said = installed(project, "start", "--agent", "demo", "--detach", "--json", "add a greeting")
    return Session(project, project.path / json.loads(said)["path"])


def test_a_session_of_0_1_0_is_looked_at_stopped_and_resumed(
    old: Project, tool: Tool, wait_until: WaitUntil
) -> None:
    old.scenario({"roles": {**QUICK["roles"], "coder": {"silent": True}}})
    session = begun(old).until_seat("coder-1")
    wait_until(lambda: "Demo agent" in old.run("show", session.name, "--role", "coder-1").stdout)
    tool.upgrade()
    assert installed(old, "--version") == f"{VERSION}\n"
    then = f"agentmux stop {session.name} && agentmux resume {session.short}"

    (listed,) = old.json("list")["sessions"]
    assert (listed["phase"], listed["live"]) == ("implementing", True)
    assert listed["orchestrator"] == session.runtime["orchestrator_pid"]
    status = old.ok("status")
    warning = f"its orchestrator is of an older AgentMux; this is AgentMux {VERSION}"
    assert f"  warning       {warning}\n" in status
    assert f"next: {then}" in status
    assert "coder-1" in old.ok("show")
    (plan,) = old.json("resume", "--dry-run", session.name, code=3)["sessions"]
    assert plan["blocked"]["reason"] == "session_live"

    # What an agent hands in counts, though the next agent cannot be started.
    (old.path / "demo_part_1.py").write_text("x = 1\n")
    assert session.submit("coder-1", "done", "--subplan", "1")["result"] == "accepted"
    old.ok("wait", session.name, "--for", "reviewing", "--timeout", "20")

    old.scenario(QUICK)
    assert "stopped" in installed(old, "stop", session.name)
    (plan,) = old.json("resume", "--dry-run", session.name)["sessions"]
    assert (plan["phase"], plan["blocked"]) == ("reviewing", None)
    installed(old, "resume", session.name, "--detach")
    session.wait()
    assert "older AgentMux" not in old.ok("status")
    assert session.approve().state["phase"] == "done"
    assert session.launched().count("coder-1") == 1


@pytest.mark.rare("CI resumes a session of 0.1.0")
def test_decisions_wait_until_a_session_of_0_1_0_is_resumed(old: Project, tool: Tool) -> None:
    session = begun(old).wait()
    tool.upgrade()
    before = session.read("tool_events.jsonl")
    for words in (
        ["approve", session.name, "--yes"],
        ["request-changes", "Say hello in French.", "--session", session.name],
        ["restart", session.name, "--role", "coder-1"],
        ["unpark", session.name],
    ):
        said = old.fails(3, *words)
        assert f"the orchestrator of session {session.short} is of an older AgentMux" in said
        assert f"hint: agentmux stop {session.name} && agentmux resume {session.short}" in said
    assert session.read("tool_events.jsonl") == before
    diff = old.run("diff", session.name, "--stat")
    assert "demo_part_1.py" in diff.stdout
    assert diff.stderr == ""

    old.ok("stop", session.name)
    old.ok("resume", session.name, "--detach")
    session.wait().approve()
    assert "demo_part_1.py" in old.git("show", "--stat")
