"""Fixtures for the tests with real agent CLIs; only ``./dev test-real`` collects them."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from agentmux.adapters.config.agent_registry import load_registry, probe
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.config.settings import Settings
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal
from tests.real.clis import CLIS, Place
from tests.real.model_server import ModelServer
from tests.real.run import found_here

COLUMNS: Final = (
    "probe", "flags", "rejection", "resumed", "hangup", "midway", "pair", "lost", "left", "asked",
    "permits", "answered", "dialogs", "outside", "limits",
)  # fmt: skip
Results = dict[str, dict[str, str]]
RESULTS: Final[pytest.StashKey[Results]] = pytest.StashKey()
NOTHING: Final[pytest.StashKey[bool]] = pytest.StashKey()

FOUND: Final = found_here(os.environ)

# Other test runs do not collect this folder.
collect_ignore_glob = [] if FOUND else ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    results: Results = {name: {} for name in CLIS}
    config.stash[RESULTS] = results


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    marker, params = item.get_closest_marker("proves"), getattr(item, "callspec", None)
    if marker is None or params is None or (report.when != "call" and report.passed):
        return report
    said = {"passed": "yes", "failed": "FAILED"}.get(report.outcome, report.outcome)
    if report.failed and report.when != "call":
        said = "ERROR"
    item.config.stash[RESULTS][params.params["name"]][marker.args[0]] = said
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which every test was skipped, because it has tested nothing."""
    if not FOUND:  # another test run, which collects nothing here
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter is not None else {}
    if stats.get("skipped") and not any(stats.get(each) for each in ("passed", "failed", "error")):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        session.config.stash[NOTHING] = True


def pytest_terminal_summary(terminalreporter) -> None:
    results = terminalreporter.config.stash[RESULTS]
    if not FOUND:
        return
    terminalreporter.section("real agent CLIs")
    if terminalreporter.config.stash.get(NOTHING, False):
        terminalreporter.write_line("error: every test was skipped, so that nothing was shown")
    width = max(9, *(len(FOUND.get(name, {}).get("version", "")) + 1 for name in CLIS))
    row = f"{{:<9}}{{:<{width}}}" + "{:<10}" * len(COLUMNS)
    terminalreporter.write_line(row.format("CLI", "VERSION", *map(str.upper, COLUMNS)))
    for name, held in results.items():
        each = FOUND.get(name, {})
        without = CLIS[name].without
        cells = [held.get(column, "n/a" if column in without else "-") for column in COLUMNS]
        terminalreporter.write_line(row.format(name, each.get("version", "-"), *cells).rstrip())
        if "missing" in each:
            terminalreporter.write_line(f"  skipped: {each['missing']}")
        for reason in dict.fromkeys(without.values()):
            columns = (column.upper() for column, why in without.items() if why == reason)
            terminalreporter.write_line(f"  {', '.join(columns)} n/a: {reason}")


@dataclass(slots=True)
class Real:
    """One installed CLI with its own home, and the model server that it uses."""

    name: str
    program: str
    spec: AgentSpec
    place: Place
    model: ModelServer
    folder: Path
    version: str = ""
    env: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}

    def run(self, *argv: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, with the CLI's environment."""
        return subprocess.run(
            argv,
            cwd=self.place.project,
            env=self.environment,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    def agentmux(self, *words: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """Run agentmux as a user would who has this CLI on PATH."""
        return self.run(sys.executable, "-m", "agentmux", *words, timeout_s=timeout_s)

    def asked(self, *words: str) -> Any:
        """Return the JSON answer of an agentmux command that must succeed."""
        done = self.agentmux(*words, "--json")
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def let_it_answer(self) -> None:
        """Probe the CLI with a long time limit, because a launch does not wait for a slow one."""
        cache = Path(self.environment["XDG_CACHE_HOME"]) / "agentmux"
        path_env = self.environment["PATH"]
        found = probe(self.spec, path_env=path_env, cache_dir=cache, timeout_s=120)
        assert found.problem is None

    def forget(self) -> None:
        """Remove every conversation from the CLI's home."""
        for pattern in CLIS[self.name].forget:
            for path in self.place.home.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture(scope="session", autouse=True)
def no_network() -> None:
    """Check that there is only loopback, so that no mistake can reach a vendor's service."""
    if any("program" in each for each in FOUND.values()):
        assert [name for _, name in socket.if_nameindex()] == ["lo"]


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ModelServer]:
    server = ModelServer(tmp_path / "requests.jsonl")
    yield server
    server.close()
    assert server.problems == []


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """As elsewhere, but not in ``/tmp``, in which some agents may write without asking."""
    with tempfile.TemporaryDirectory(
        prefix="amx-", dir="/var/tmp", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@pytest.fixture
def real(
    name: str, short_dir: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Real]:
    """The CLI ``name`` with its configuration; the test is skipped if it is not installed."""
    found = FOUND[name]
    if "missing" in found:
        pytest.skip(f"{name}: {found['missing']}")
    program = Path(found["program"])
    project = short_dir / "project"
    project.mkdir()
    (short_dir / "home").mkdir()
    place = Place(home=short_dir / "home", project=project, url=model.url)
    # tmux puts its default socket there, apart from the user's.
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    cache = program.parents[2]
    beside = [str(each) for glob in CLIS[name].path for each in cache.glob(glob)]
    monkeypatch.setenv("PATH", ":".join([str(program.parent), *beside, os.environ["PATH"]]))
    made = Real(
        name=name,
        program=str(program),
        spec=load_registry(Settings())[name],
        place=place,
        model=model,
        folder=short_dir,
        version=found["version"],
        env=dict(CLIS[name].prepare(place)),
    )
    _git(made)
    yield made
    subprocess.run(["tmux", "-L", "real", "kill-server"], capture_output=True, check=False)


def _git(real: Real) -> None:
    real.place.project.joinpath("README.md").write_text("A project.\n")
    name, email = ("config", "user.name", "A"), ("config", "user.email", "a@example.org")
    for words in (("init", "-q"), name, email, ("add", "."), ("commit", "-q", "-m", "Begin")):
        done = real.run("git", *words)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def in_pane(tmux: TmuxTerminal, tmp_path: Path, wait_until: WaitUntil):
    """Return a function that runs an argv in a pane until it ends.

    The function returns the exit status and the last screen.
    """

    def run(real: Real, argv: Sequence[str], *, deadline_s: float = 30) -> tuple[int, str]:
        status = tmp_path / "status"
        # The status goes to a file, because tmux loses some.
        line = '"$@"; code=$?; tmux capture-pane -p -t "$TMUX_PANE" >"$0.screen"; echo $code >"$0"'
        words = ["sh", "-c", line, str(status), *argv]
        command = ["tmux", "-S", tmux.socket, "-f", "/dev/null", "new-session", "-d", "-x", "160"]
        done = real.run(*command, "-y", "50", "-c", str(real.place.project), *words)
        assert done.returncode == 0, done.stderr
        screen = status.with_suffix(".screen")

        def shown() -> str:
            now = real.run("tmux", "-S", tmux.socket, "capture-pane", "-p")
            return f"{real.name} did not end; its screen:\n{now.stdout}"

        wait_until(lambda: status.exists() and status.read_text(), deadline_s, shown)
        return int(status.read_text()), screen.read_text()

    return run
