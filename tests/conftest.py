"""Fixtures for every test: private environments and tmux servers, and waiting for conditions.

No test has access to the user's files, and all processes of a test are ended after it.
"""

import contextlib
import gc
import io
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.system.processes.processes import end, is_alive, processes_with_variable
from agentmux.cli.main import main
from agentmux.core.config.settings import Settings
from tests.fakes.bench import Bench
from tests.fakes.receiver import Receiver, receiving
from tests.fakes.terminal import FakeTerminal

TMUXES = tuple(filter(None, os.environ.get("AGENTMUX_TEST_TMUX", "").split(os.pathsep)))
"""The tmux programs to run tests with; empty for the one on PATH."""

TEST_ID = "AGENTMUX_TEST_ID"
"""A variable in the environment of all processes of a test, by which they are found and ended."""

HOSTILE = """\
set -g base-index 1
setw -g pane-base-index 1
set -g remain-on-exit off
set -g default-shell /bin/sh
set -g default-command "exec /bin/sh"
set -g prefix C-a
set -g status off
set -g renumber-windows on
set -g automatic-rename on
set -g window-size smallest
setw -g aggressive-resize on
set -g destroy-unattached on
set -g synchronize-panes on
set-hook -g after-new-window 'set -g @hooked 1'
set-hook -g after-split-window 'select-layout even-vertical'
set-hook -g window-linked 'set -g @linked 1'
set-hook -g pane-died 'set -g @died 1'
set-hook -g after-new-session 'run-shell "exit 1"'
set -s command-alias[100] kill-pane='kill-pane -a'
set -s command-alias[101] kill-session='kill-session -a'
set -s command-alias[102] list-panes='list-panes -a'
set -s command-alias[103] new-window='split-window'
set -s command-alias[104] set-option='set-option -g'
set -s command-alias[105] display-message='display-message -d 1 x'
set -s command-alias[106] capture-pane='capture-pane -q -a'
set -s command-alias[107] select-layout='select-layout tiled'
set -s command-alias[108] send-keys='send-keys -l'
set -s command-alias[109] if-shell='if-shell -F "" ""'
set -s command-alias[110] list-sessions='list-sessions -f 0'
"""
"""A tmux configuration that breaks programs that count windows or rely on defaults."""

WRAPPER = Path(__file__).parent.parent / "agentmux" / "adapters" / "pane" / "wrapper.py"

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 2 * 1024**3
"""The free bytes in memory that all tests together surely do not use."""


def _scratch() -> str:
    """Return the folder, with a short path, in which tests make their folders.

    It is in memory if there is room, since flushing a file to a disk takes milliseconds, in which
    a test waits. ``TMPDIR=/tmp`` puts everything on the disk.
    """
    try:
        place = os.statvfs(MEMORY)
    except OSError:
        return "/tmp"
    roomy = place.f_bavail * place.f_frsize >= ROOM and not place.f_flag & os.ST_NOEXEC
    usable = roomy and os.access(MEMORY, os.W_OK) and "TMPDIR" not in os.environ
    return str(MEMORY) if usable else "/tmp"


SCRATCH: Final = _scratch()
if "TMPDIR" not in os.environ:
    tempfile.tempdir = SCRATCH  # also where pytest makes each test's `tmp_path`

settings.register_profile(
    "same",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.function_scoped_fixture),
)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")
# The same few examples in every run; --hypothesis-profile=explore tries many new ones.

# In the background or under nohup, these signals are ignored, also by all child processes.
# (Because they are restored here, nohup does not protect a run of the tests: use setsid.)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

gc.set_threshold(50_000)  # most objects stay until the end: looking at them often frees nothing

SLOW = (
    "tests/app/test_crash_sweep",
    "tests/app/loop/test_orchestrator.py",
    "tests/e2e/",
    "tests/fleet/",
)
"""The slowest tests, which start first so that all workers are busy until the end."""

_WITH_QUICK_ONES = ("bad_input", "commands", "durability", "tmux_gateway")
MIXED = tuple(f"tests/e2e/test_{name}.py" for name in _WITH_QUICK_ONES)
"""Slow files with quick tests in them, which come after the other slow ones. xdist sends a worker
several more tests for each quick one that it has done. If slow tests followed, that worker would
have a queue of them when the others have nothing left to do."""


_LONG = re.compile(r"\bmark\.(long|rare)\b")
_WHOLLY_LONG = re.compile(rf"^pytestmark = .*{_LONG.pattern}", re.MULTILINE)
_WHOLLY_RARE = re.compile(r"^pytestmark = .*\bmark\.rare\b", re.MULTILINE)
_NONE_FOR = {"not long": _WHOLLY_LONG, "not rare": _WHOLLY_RARE}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that have no test for ``-m``: to import all of them takes a while."""
    wanted = config.option.markexpr
    if not collection_path.match("test_*.py") or not wanted:
        return None
    text = collection_path.read_text()
    if wanted in _NONE_FOR:
        return _NONE_FOR[wanted].search(text) is not None or None
    return (wanted.startswith("long") and _LONG.search(text) is None) or None


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Send what a worker says of a test's reruns at once.

    The plug-in tells the controller of each test in two packets, of which TCP holds the second back
    until the first is acknowledged: for 40 ms, in which four of five tests could be done.
    """
    if hasattr(config, "workerinput") and hasattr(config, "failures_db"):
        config.failures_db.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("rare") is not None:
            item.add_marker(pytest.mark.long)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[bool, int]:
    quick = item.get_closest_marker("long") is None
    if item.nodeid.startswith(MIXED):
        return quick, 1
    return quick, 0 if item.nodeid.startswith(SLOW) else 2


WaitUntil = Callable[..., None]

PATIENCE_S: Final = 60.0
"""The shortest deadline of a wait: it only ends a test that fails, also on a busy machine."""


def _wait_until(
    condition: Callable[[], object], deadline_s: float = PATIENCE_S, what: object = ""
) -> None:
    """Wait until ``condition()`` is true; at the deadline, fail with ``what`` or ``what()``.

    A ``deadline_s`` below `PATIENCE_S` counts as that. Looking takes at most a quarter of the
    time, since what is waited for needs the processor, too.
    """
    deadline_s = max(deadline_s, PATIENCE_S)
    deadline = time.monotonic() + deadline_s
    began = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > deadline:
            shown = what() if callable(what) else what
            pytest.fail(f"not within {deadline_s:g} s: {shown or condition}")
        time.sleep(max(0.01, min(0.2, 3 * (now - began))))
        began = time.monotonic()


def trust(project: Path, environ: Mapping[str, str] | None = None) -> None:
    """Trust the project's files as they are now, with ``agentmux trust``."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        words = ["--project", str(project), "trust", "--yes"]
        assert main(words, os.environ if environ is None else environ) == 0, said.getvalue()


@pytest.fixture
def wait_until() -> WaitUntil:
    return _wait_until


@pytest.fixture(scope="session")
def system_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a PATH of the system's programs, without agents that somebody has installed there."""
    folders = ("/usr/bin", "/bin")
    registry = load_registry(Settings())
    agents = {
        each.command[0] for name, each in registry.items() if name != "shell" and each.command
    }
    if not any(os.path.lexists(f"{folder}/{name}") for folder in folders for name in agents):
        return ":".join(folders)
    links = tmp_path_factory.mktemp("programs")
    for program in Path("/usr/bin").iterdir():
        if program.name not in agents:
            (links / program.name).symlink_to(program)
    return str(links)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server on loopback that gets notifications."""
    with receiving() as made:
        yield made


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made.getsockname()[1]


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A directory with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="amx-", dir=SCRATCH))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Hide the user's home, configuration and tmux server; end all processes after the test.

    Yields the test's id, which is in the environment of these processes. ``tmp_path`` comes first,
    so that pytest deletes it last, when no function of ``os`` is replaced any more.
    """
    for name in tuple(os.environ):
        if name.startswith(("TMUX", "XDG_", "AGENTMUX_", "CLAUDE", "CODEX_", "GIT_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    # tmux ignores a missing TMUX_TMPDIR, but fails if its socket folder is a file.
    (home / f"tmux-{os.getuid()}").touch()
    monkeypatch.setenv("TMUX_TMPDIR", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    test_id = uuid.uuid4().hex
    monkeypatch.setenv(TEST_ID, test_id)
    before = _children()
    yield test_id
    if _children() != before:  # to look at every process takes longer than most tests
        _end_all(test_id)


def _children() -> tuple[object, str]:
    """Return what differs after this process started another one, whether or not it has ended."""
    tasks = Path("/proc/self/task")
    found = tasks.iterdir() if tasks.is_dir() else ()
    with suppress(OSError):  # a thread has just ended, or the kernel does not list children
        listed = "".join((task / "children").read_text() for task in found)
        return resource.getrusage(resource.RUSAGE_CHILDREN), listed
    return object(), ""


def _end_all(test_id: str) -> None:
    """End every process with the test's id in its environment, except this one."""
    left = processes_with_variable(f"{TEST_ID}={test_id}")
    for pid, started in left:  # a stopped process does not handle SIGTERM
        with suppress(ProcessLookupError):
            if is_alive(pid, started):
                os.kill(pid, signal.SIGCONT)
    end(left, grace_s=0.2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if TMUXES and "tmux_program" in metafunc.fixturenames:
        names = [Path(program).name for program in TMUXES]
        metafunc.parametrize("tmux_program", TMUXES, indirect=True, ids=names)


@pytest.fixture
def tmux_program(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the test with each tmux that ``AGENTMUX_TEST_TMUX`` names."""
    program = getattr(request, "param", None)
    if program is not None:
        folder = tmp_path / "tmux"
        folder.mkdir()
        (folder / "tmux").symlink_to(Path(shutil.which(program) or program).absolute())
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture(params=["plain", "hostile"])
def tmux_config(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path of a tmux configuration: an empty one, then a hostile one."""
    if request.param == "plain":
        return "/dev/null"
    path = tmp_path / "hostile.conf"
    path.write_text(HOSTILE)
    return str(path)


@pytest.fixture
def tmux(short_dir: Path, tmux_program: None) -> Iterator[Bench]:
    """A private tmux server without configuration; it starts with its first session."""
    terminal = Bench(str(short_dir / "s"), config_file="/dev/null", timeout_s=10)
    yield terminal
    end_server(terminal)


@pytest.fixture
def tmux_under(short_dir: Path, tmux_config: str, tmux_program: None) -> Iterator[Bench]:
    """A private tmux server, once without a configuration and once with a hostile one."""
    terminal = Bench(str(short_dir / "s"), config_file=tmux_config, timeout_s=10)
    yield terminal
    end_server(terminal)


@pytest.fixture
def fake_terminal() -> Iterator[FakeTerminal]:
    terminal = FakeTerminal()
    yield terminal
    terminal.close()


@pytest.fixture(params=["fake", "tmux"])
def terminal(request: pytest.FixtureRequest, tmux_program: None) -> Bench | FakeTerminal:
    """The fake and the real terminal, which must both meet the contract."""
    name = "fake_terminal" if request.param == "fake" else "tmux"
    found: Bench | FakeTerminal = request.getfixturevalue(name)
    return found


def end_server(terminal: Bench) -> None:
    subprocess.run(
        ["tmux", "-S", terminal.socket, "kill-server"], capture_output=True, check=False, timeout=10
    )


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which a demo makes its temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="amx-", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
