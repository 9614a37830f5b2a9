"""The parts of `./dev` that need no network and do not change this machine.

Each test runs a copy of the script in a project of its own, with a PATH that holds only what the
test puts there.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.conftest import WaitUntil

ROOT = Path(__file__).parent.parent
TOOLS = ("cat", "cksum", "dirname", "env", "sed", "sh", "true")


class Machine:
    """A project folder with `dev` in it, and a folder of programs that is the whole PATH."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "my project's"
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.project.mkdir()
        self.bin.mkdir()
        self.calls.write_text("")
        shutil.copy(ROOT / "dev", self.project / "dev")
        shutil.copy(ROOT / "pyproject.toml", self.project)
        for tool in TOOLS:
            self.takes(tool)
        self.has("id", "echo 1000")

    def takes(self, tool: str) -> None:
        """Put a program of this machine on PATH."""
        found = shutil.which(tool)
        assert found, tool
        (self.bin / tool).symlink_to(found)

    def has(self, name: str, body: str = "exit 0") -> None:
        """Put a program on PATH that logs its arguments."""
        self._write(self.bin / name, body)

    def has_in_venv(self, name: str, body: str) -> None:
        """Put a program into .venv that logs its arguments."""
        (self.project / ".venv/bin").mkdir(parents=True, exist_ok=True)
        self._write(self.project / ".venv/bin" / name, body)

    def _write(self, program: Path, body: str) -> None:
        program.unlink(missing_ok=True)
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >>"{self.calls}"\n{body}\n')
        program.chmod(0o755)

    def has_everything(self) -> None:
        self.has("tmux", "echo tmux 3.2a")
        self.has("git")
        self.has("python3.12")

    def has_python(self, name: str, *, lacks: str = "", then: str = "") -> None:
        """Put the real Python on PATH under another name; it makes no virtual environments.

        Args:
            lacks: Modules that it cannot import until the file ``python-is-whole`` exists.
            then: A shell command that runs first.
        """
        whole = self.bin.parent / "python-is-whole"
        without = f"import sys; sys.modules |= dict.fromkeys({lacks.split()!r})"
        self.has(
            name,
            f'{then}\n[ "$1 $2" = "-I -c" ] && [ ! -e "{whole}" ] && exec "{sys.executable}" '
            f'-I -c "{without}\n$3"\n[ "$3" != venv ] || exit 1\nexec "{sys.executable}" "$@"',
        )

    def dev(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.project / "dev"), *argv],
            cwd="/",
            env={"PATH": str(self.bin), "CDPATH": "/tmp:/", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_help_names_every_command(machine: Machine) -> None:
    done = machine.dev("help")
    assert done.returncode == 0
    tests = ("test", "test-long", "test-real", "test-fresh")
    for command in (*tests, "demo", "check", "bench", "setup"):
        assert f"\n  {command} " in done.stdout


def test_the_demo_of_the_fleet_installs_what_the_extra_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extra = project["project"]["optional-dependencies"]["fleet"]
    assert project["dependency-groups"]["fleet"] == extra


def test_an_unknown_command_is_a_usage_error(machine: Machine) -> None:
    done = machine.dev("frobnicate")
    assert done.returncode == 2
    assert "unknown command `frobnicate`" in done.stderr


GATES = re.findall(r"^gates='(.*)'$", (ROOT / "dev").read_text(), re.MULTILINE)[0].split()


def test_an_unknown_gate_is_a_usage_error(machine: Machine) -> None:
    done = machine.dev("check", "lint", "frobnicate")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: unknown gate `frobnicate`\nhint: ./dev check {' '.join(GATES)}\n"
    )


def test_each_gate_is_run_also_if_one_fails(machine: Machine) -> None:
    machine.has_everything()
    for program in ("zizmor", "uv"):
        machine.has_in_venv(program, "exit 3")
    machine.has_in_venv("python", "exit 0")
    for tool in ("mktemp", "rm"):
        machine.takes(tool)
    done = machine.dev("check", "types", "workflows", "lock", "lint")
    assert done.returncode == 1
    assert re.findall("^== (.*)", done.stderr, re.MULTILINE) == [
        "types", "workflows", "lock", "lint",
    ]  # fmt: skip
    assert done.stderr.endswith("failed: workflows lock\n")
    done = machine.dev("check", "types", "lint")
    assert (done.returncode, done.stderr.endswith("every gate passed\n")) == (0, True)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_check_that_is_interrupted_ends_its_gates(
    machine: Machine, wait_until: WaitUntil, sent: signal.Signals
) -> None:
    """A shell lets what runs in its background ignore Ctrl-C, which the whole group gets."""
    machine.has_everything()
    machine.has_in_venv("python", "exit 0")
    for tool in ("mktemp", "rm", "sleep"):
        machine.takes(tool)
    pid = machine.calls.parent / "pid"
    machine.has_in_venv("zizmor", f'echo $$ >"{pid}"; exec sleep 600')
    gates = subprocess.Popen(
        [str(machine.project / "dev"), "check", "types", "workflows"],
        cwd="/", env={"PATH": str(machine.bin)}, start_new_session=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    (os.killpg if sent == signal.SIGINT else os.kill)(gates.pid, sent)
    assert gates.wait(60) == 128 + sent

    def is_gone() -> bool:
        try:
            os.kill(int(pid.read_text()), 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(is_gone)


def test_a_commit_runs_the_gates_that_are_quick() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = {each["id"]: each["entry"] for repo in config["repos"] for each in repo["hooks"]}
    assert hooks == {gate: f"./dev check {gate}" for gate in GATES if gate != "wheel"}


def test_no_python_is_said(machine: Machine) -> None:
    machine.has("python3", "exit 1")
    done = machine.dev("setup")
    assert done.returncode == 6
    assert "no Python 3.11 or later was found" in done.stderr


VERSION = "{}.{}".format(*sys.version_info)

# Each package manager's command on a machine that has only Python.
BARE = {
    "apt-get": "env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=120 "
    f"install --no-install-recommends tmux git python{VERSION}-venv",
    "dnf": "dnf -y install tmux git python3",
    "pacman": "pacman -Sy --noconfirm --needed tmux git python",
    "apk": "apk add --no-cache tmux git python3",
    "brew": "brew install tmux git python",
}


@pytest.mark.parametrize(
    ("manager", "lacks"), [*((each, "ensurepip") for each in BARE), ("apt-get", "venv ensurepip")]
)
def test_a_machine_with_python_alone_gets_the_rest(
    machine: Machine, manager: str, lacks: str
) -> None:
    """Debian without python3-venv has no ensurepip, so that the first `./dev` command failed."""
    machine.has_python("python3", lacks=lacks)
    called = BARE[manager].removeprefix("env DEBIAN_FRONTEND=noninteractive ")
    made = f"""case "{manager} $*" in "{called}")
        printf '#!/bin/sh\\necho tmux 3.4\\n' >"{machine.bin}/tmux"
        printf '#!/bin/sh\\n' >"{machine.bin}/git"
        {shutil.which("chmod")} +x "{machine.bin}/tmux" "{machine.bin}/git"
        : >"{machine.bin.parent}/python-is-whole" ;;
    esac"""
    machine.has("id", "echo 1000" if manager == "brew" else "echo 0")
    machine.has(manager, made)
    done = machine.dev("setup")
    packages = called[called.index("tmux git") :]
    assert f"installing {packages} with {manager}\n" in done.stderr
    assert called in machine.calls.read_text()
    assert f"making .venv with {machine.bin}/python3" in done.stderr


@pytest.mark.parametrize("manager", [each for each in BARE if each != "brew"])
def test_a_missing_venv_is_named_where_nothing_may_be_installed(
    machine: Machine, manager: str
) -> None:
    machine.has_everything()
    machine.has_python("python3.12", lacks="ensurepip")
    machine.has(manager)
    done = machine.dev("setup")
    assert done.returncode == 6
    assert "this machine lacks: venv, and installing needs root" in done.stderr
    package = BARE[manager].rpartition(" ")[2]
    assert re.search(rf"^hint: sudo {manager} .* {package}$", done.stderr, re.MULTILINE)


def test_an_older_python_is_passed_over(machine: Machine) -> None:
    machine.has_everything()
    machine.has_python("python3.13", then='case "$3" in *version_info*) exit 1 ;; esac')
    machine.has_python("python3.12")
    assert f"making .venv with {machine.bin}/python3.12\n" in machine.dev("setup").stderr


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "sudo apt-get -y -q -o DPkg::Lock::Timeout=120 install"),
        ("dnf", "sudo dnf -y install tmux git"),
        ("pacman", "sudo pacman -Sy --noconfirm --needed tmux git"),
        ("apk", "sudo apk add --no-cache tmux git"),
    ],
)
def test_without_root_the_exact_command_is_printed(
    machine: Machine, manager: str, command: str
) -> None:
    machine.has("python3.12")
    machine.has(manager)
    done = machine.dev("setup")
    assert done.returncode == 6
    assert f"hint: {command}" in done.stderr
    assert "tmux git" in done.stderr
    assert f"{manager} " not in machine.calls.read_text()


def test_no_package_manager_is_said(machine: Machine) -> None:
    machine.has("python3.12")
    done = machine.dev("test")
    assert done.returncode == 6
    assert "this machine lacks: tmux git" in done.stderr


@pytest.mark.parametrize("way", ["root", "sudo"])
def test_what_is_missing_is_installed_where_it_may_be(machine: Machine, way: str) -> None:
    machine.has("python3.12")
    machine.has("git")
    machine.has("tmux", "echo tmux 3.1c")
    made = f'printf "#!/bin/sh\\necho tmux 3.4\\n" >"{machine.bin}/tmux"'
    machine.has("apt-get", f'case "$*" in *install*tmux) {made} ;; esac')
    if way == "root":
        machine.has("id", "echo 0")
    else:
        machine.has("sudo", 'shift; exec "$@"')
    done = machine.dev("setup")
    assert "installing tmux with apt-get" in done.stderr
    calls = machine.calls.read_text()
    assert calls.index("apt-get -q -o DPkg::Lock::Timeout=120 update") < calls.index(
        "install --no-install-recommends tmux"
    )
    assert "making .venv with" in done.stderr  # it continued


def test_an_install_that_does_not_help_is_said(machine: Machine) -> None:
    machine.has_everything()
    machine.has("tmux", "echo tmux 3.1c")
    machine.has("id", "echo 0")
    machine.has("dnf")
    done = machine.dev("setup")
    assert done.returncode == 6
    assert "still lacks: tmux (tmux must be 3.2 or later)" in done.stderr


@pytest.mark.parametrize("status", [0, 1])
def test_the_shells_of_the_tests_are_installed_once_if_nobody_is_to_be_asked(
    machine: Machine, status: int
) -> None:
    machine.has_everything()
    machine.has("fish")
    machine.has("id", "echo 0")
    machine.has("dnf", f"exit {status}")
    (machine.project / ".venv/bin").mkdir(parents=True)
    (machine.project / ".venv/bin/python").symlink_to(machine.bin / "python3.12")
    for _ in range(2):
        done = machine.dev("test", "x")
        assert done.returncode == 0
    assert machine.calls.read_text().count("dnf -y install zsh\n") == 1
    machine.has("id", "echo 1000")
    (machine.project / ".venv/stamp-shells").unlink()
    assert "without zsh: tests of completion there are skipped" in machine.dev("test").stderr


@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("tmux 2.9", False),
        ("tmux 3.1c", False),
        ("tmux 3.2", True),
        ("tmux 3.10", True),
        ("tmux 4.0", True),
        ("tmux next-3.6", True),
        ("tmux master", True),
    ],
)
def test_which_tmux_is_enough(machine: Machine, version: str, enough: bool) -> None:
    machine.has_everything()
    machine.has("tmux", f"echo {version}")
    assert ("lacks: tmux" in machine.dev("setup").stderr) is not enough


def test_an_installed_venv_is_left_alone_until_the_project_changes(machine: Machine) -> None:
    machine.has_everything()
    bin_folder = machine.project / ".venv/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(machine.bin / "python3.12")
    arguments = machine.calls.parent / "python calls"
    machine.has("python3.12", f'printf "%s|" "$@" >>"{arguments}"; echo >>"{arguments}"')

    def installs() -> int:
        return arguments.read_text().count("-m|pip|install|")

    for _ in range(2):
        assert machine.dev("setup").returncode == 0
    assert installs() == 1
    done = machine.dev("test", "a b", "-k", "x y", PYTHONPATH="/nowhere")
    assert done.returncode == 0
    assert installs() == 1
    assert arguments.read_text().endswith("-m|pytest|a b|-k|x y|\n")
    with (machine.project / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert machine.dev("setup").returncode == 0
    assert installs() == 2


@pytest.mark.parametrize("status", [0, 1])
def test_what_pip_is_at_is_shown(machine: Machine, status: int) -> None:
    machine.has_everything()
    pip = "echo Obtaining file:///x; echo Collecting rich!=1,\\>=13; echo '  Downloading rich';"
    pip += " echo Installing collected packages: a, b; echo WARNING: x >&2; echo why >&2;"
    pip += f" exit {status}"
    machine.has("python3.12", f'case "$*" in *"pip install"*) {pip} ;; esac')
    bin_folder = machine.project / ".venv/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(machine.bin / "python3.12")
    done = machine.dev("setup")
    assert "  package 2: rich\n" in done.stderr
    assert "  installing 2 packages\n" in done.stderr
    assert "Downloading" not in done.stderr
    assert "WARNING" not in done.stderr
    assert "why\n" in done.stderr
    assert ("error: pip could not install" in done.stderr) is (status == 1)
    assert done.returncode == (6 if status else 0)
    assert done.stdout == ""


def test_the_callers_python_settings_do_not_reach_the_project(machine: Machine) -> None:
    machine.has_everything()
    bin_folder = machine.project / ".venv/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(machine.bin / "python3.12")
    seen = machine.calls.parent / "seen"
    machine.has("python3.12", f'env >"{seen}"')
    done = machine.dev(
        "test",
        "x",
        PYTHONPATH="/nowhere",
        PIP_TARGET="/nowhere",
        VIRTUAL_ENV="/nowhere",
        PIP_INDEX_URL="https://packages.example.org/simple",
        PIP_FIND_LINKS="/wheels",
    )
    assert done.returncode == 0
    lines = seen.read_text().split(os.linesep)
    assert not [line for line in lines if line.endswith("=/nowhere")]
    assert "PIP_INDEX_URL=https://packages.example.org/simple" in lines
    assert "PIP_FIND_LINKS=/wheels" in lines
