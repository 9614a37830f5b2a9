"""AgentMux as uv, pipx and pip install it: used, reinstalled under a live session, uninstalled."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from agentmux.core.journal.events import SIGNALS
from agentmux.core.names.version import DISTRIBUTION, VERSION
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project, Session, make_root
from tests.install.conftest import WHEELS

INSTALLERS = ("uv", "pipx", "pip")
PACKAGE_DATA = ("py.typed", "agents.yaml", "forges.yaml", "prompts", "pipelines")
INSTALL_S = 200
MAN_PAGE = Path(__file__).parents[2] / "docs/how-to/complete-on-tab.md"
TOOLS = Path(sys.executable).parent

DECOY = "#!/bin/sh\necho decoy >&2\nexit 99\n"
SILENT_CLAUDE = """#!/bin/sh
case "$*" in *--help*|*--version*) exec echo "2.1.330 --session-id --resume" ;; esac
exec sleep 600
"""


@dataclass(frozen=True)
class Installer:
    """The command lines of one installer, and where it puts programs below the home."""

    install: Sequence[str]
    again: Sequence[str]
    uninstall: Sequence[str]
    bin: str


def installer(name: str, wheel: str, home: Path) -> Installer:
    uv, pipx, pip = str(TOOLS / "uv"), str(TOOLS / "pipx"), str(home / "agentmux" / "bin" / "pip")
    return {
        "uv": Installer(
            (uv, "tool", "install", "--python", sys.executable, wheel),
            (uv, "tool", "install", "--python", sys.executable, "--reinstall", wheel),
            (uv, "tool", "uninstall", DISTRIBUTION),
            ".local/bin",
        ),
        "pipx": Installer(
            (pipx, "install", wheel),
            (pipx, "install", "--force", wheel),
            (pipx, "uninstall", DISTRIBUTION),
            ".local/bin",
        ),
        "pip": Installer(
            (pip, "install", wheel),
            (pip, "install", "--force-reinstall", "--no-deps", wheel),
            (pip, "uninstall", "-y", DISTRIBUTION),
            "agentmux/bin",
        ),
    }[name]


class Installed:
    """AgentMux, installed in the home of a project; the program is not on the PATH."""

    def __init__(self, name: str, project: Project) -> None:
        self.project = project
        (wheel,) = WHEELS.glob("agentmux_cli-*.whl")
        self.name = name
        self._installer = installer(name, str(wheel), project.home)
        shutil.rmtree(project.home / "cache")
        decoys = project.root / "decoys"
        decoys.mkdir()
        for program in ("agentmux", "agentmux-demo-agent"):
            (decoys / program).write_text(DECOY)
            (decoys / program).chmod(0o755)
        (decoys / "claude").write_text(SILENT_CLAUDE)
        (decoys / "claude").chmod(0o755)
        kept = {k: v for k, v in project.env.items() if not k.startswith(("XDG_", "PIP", "UV_"))}
        project.env = {
            **kept,
            "PATH": f"{decoys}:{os.environ['PATH']}",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(WHEELS),
            "PIP_NO_COMPILE": "1",  # compiling takes half of the time
            "UV_NO_CONFIG": "1",
            "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(WHEELS),
            "UV_PYTHON_DOWNLOADS": "never",
            # Without uv on the PATH, as where pipx comes from the distribution.
            "PIPX_DEFAULT_BACKEND": "pip",
        }
        if name == "pip":
            self._does((sys.executable, "-m", "venv", str(project.home / "agentmux")))
        self._does(self._installer.install)
        self.bin = project.home / self._installer.bin
        self.place = (self.bin / "agentmux").resolve().parent
        """The folder of the installed program itself."""

    def _does(self, argv: Sequence[str]) -> None:
        done = subprocess.run(
            argv,
            check=False,
            env=self.project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_S,
        )
        assert done.returncode == 0, f"{argv}: {done.stdout}"

    def reinstall(self) -> None:
        self._does(self._installer.again)

    def uninstall(self) -> None:
        self._does(self._installer.uninstall)

    def install(self) -> None:
        self._does(self._installer.install)

    def ok(self, *words: str) -> str:
        done = self.project.program(str(self.bin / "agentmux"), *words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def start(self, *words: str) -> Session:
        said = self.ok("start", "--detach", "--json", *words, "add a greeting")
        return Session(self.project, self.project.path / json.loads(said)["path"])


@pytest.fixture(params=INSTALLERS)
def tool(request: pytest.FixtureRequest) -> Iterator[Installed]:
    project = Project(make_root())
    try:
        yield Installed(request.param, project)
    finally:
        project.close()


def offered(argv: Sequence[str], environ: dict[str, str]) -> set[str]:
    """Return the tools of an MCP server, asked as an agent does."""

    async def main() -> set[str]:
        server = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=environ)
        async with Client(server, read_timeout_seconds=60) as client:
            return {each.name for each in (await client.list_tools()).tools}

    return asyncio.run(main())


def commands(fields: Any) -> Iterator[str]:
    """Yield every ``command`` in JSON."""
    if isinstance(fields, dict):
        if isinstance(fields.get("command"), str):
            yield fields["command"]
        yield from (found for each in fields.values() for found in commands(each))
    elif isinstance(fields, list):
        yield from (found for each in fields for found in commands(each))


def launch(session: Session, seat: str) -> dict[str, Any]:
    known = session.state["seats"][seat]["launch"]
    found: dict[str, Any] = json.loads(session.read(f"launches/{known}/launch.json"))
    return found


@pytest.mark.timeout(600)
def test_an_installed_program_runs_survives_a_reinstall_and_leaves_sessions(
    tool: Installed, wait_until: WaitUntil
) -> None:
    is_whole(tool)
    is_wired(tool)
    session = is_working(tool, wait_until)
    goes_on_after_a_reinstall(tool, session)
    comes_back_after_an_uninstall(tool, session)


def is_whole(tool: Installed) -> None:
    """Check the programs and files."""
    project = tool.project
    assert tool.ok("--version") == f"{VERSION}\n"
    demo = project.program(str(tool.bin / "agentmux-demo-agent"), "--help")
    assert demo.returncode == 0
    python = tool.place / "python"
    where = project.program(str(python), "-Ic", "import agentmux; print(agentmux.__path__[0])")
    package = Path(where.stdout.strip())
    assert tool.place.parent in package.parents
    assert [name for name in PACKAGE_DATA if not (package / name).exists()] == []
    assert (tool.place.parent / "share" / "man" / "man1" / "agentmux.1").is_file()
    if shutil.which("man"):
        shows_its_page(tool)


def shows_its_page(tool: Installed) -> None:
    """Check that ``man agentmux`` finds the page, as the page on it says."""
    only = f"{tool.bin}:/usr/local/bin:/usr/bin:/bin"
    if tool.name == "uv":
        (block,) = re.findall(r"```sh\n(mkdir.*?)```", MAN_PAGE.read_text("utf-8"), re.DOTALL)
        linked = tool.project.program("sh", "-ec", block, env={"PATH": f"{TOOLS}:{only}"})
        assert linked.returncode == 0, linked.stderr
    shown = tool.project.program("man", "-w", "agentmux", env={"PATH": only})
    assert shown.stdout.strip().endswith("agentmux.1"), shown.stderr
    assert Path(shown.stdout.strip()).resolve().is_relative_to(tool.project.home)


def is_wired(tool: Installed) -> None:
    """Check that hooks and the MCP server are started by the path of the installed program."""
    session = tool.start("--agent", "claude").until_seat("architect")
    made = launch(session, "architect")
    folder = session.path / "launches" / session.state["seats"]["architect"]["launch"]
    served = json.loads((folder / "mcp.json").read_text())["mcpServers"]["agentmux"]
    python = served["command"]
    assert python.startswith(str(tool.place / "python"))
    assert offered((python, *served["args"]), made["env"]) == SIGNALS
    settings = made["argv"][made["argv"].index("--settings") + 1]
    text = settings if settings.startswith("{") else Path(settings).read_text()
    hooks = list(commands(json.loads(text)["hooks"]))
    assert hooks
    assert all(each.startswith(f"{python} -P -m agentmux hook") for each in hooks)
    tool.ok("stop", session.name)
    tool.ok("remove", session.name, "--yes")


def is_working(tool: Installed, wait_until: WaitUntil) -> Session:
    """Start a session, whose agents use this program though there is another one on the PATH."""
    project = tool.project
    project.scenario({"roles": {**QUICK["roles"], "coder": {"silent": True}}})
    session = tool.start("--agent", "demo").until_seat("coder-1")
    show = (str(tool.bin / "agentmux"), "show", session.name, "--role", "coder-1")
    wait_until(lambda: "Demo agent" in project.program(*show).stdout, 30)
    found = launch(session, "coder-1")["env"]["PATH"].split(":")[0]
    assert Path(found).resolve() == tool.place.resolve()
    return session


def goes_on_after_a_reinstall(tool: Installed, session: Session) -> None:
    """Replace the program beneath a live session: its phases go on."""
    project = tool.project
    project.scenario(QUICK)
    tool.reinstall()
    (project.path / "demo_part_1.py").write_text("x = 1\n")
    words = ("submit", "done", "--subplan", "1")
    handed_in = project.program("agentmux", *words, env=launch(session, "coder-1")["env"])
    assert (handed_in.returncode, handed_in.stdout) == (0, "accepted\n"), handed_in.stderr
    tool.ok("wait", session.name, "--for", "decision", "--timeout", "30")


def comes_back_after_an_uninstall(tool: Installed, session: Session) -> None:
    """Take the program away, and install it again: the session is there all the time."""
    project = tool.project
    tool.ok("stop", session.name)
    tool.uninstall()
    assert not (tool.bin / "agentmux").exists()
    assert (session.path / "tool_events.jsonl").is_file()
    assert (project.home / ".local" / "state" / "agentmux").is_dir()
    tool.install()
    tool.ok("resume", session.name, "--detach")
    tool.ok("wait", session.name, "--for", "decision", "--timeout", "30")
    tool.ok("approve", session.name, "--yes")
    assert "demo_part_1.py" in project.git("show", "--stat")
    session.gone()
