"""Another project's files among those of the package `agentmux` are noticed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from agentmux.adapters.system.python.distributions import require_own_package
from agentmux.core.names.version import DISTRIBUTION
from agentmux.errors import ExitCode, NotInstalledError

PACKAGE = Path(__file__).parents[3] / "agentmux"
FOREIGN_MAIN = "def cli():\n    print('the other project')\n"


def install(site: Path, name: str, version: str, *files: str) -> None:
    """Write the metadata that an installer leaves of a distribution with these files."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{each},,\n" for each in files))


@pytest.mark.parametrize("name", [DISTRIBUTION, "agentmux_cli", "Agentmux.CLI"])
def test_our_own_distribution_may_have_the_package(name: str, tmp_path: Path) -> None:
    install(tmp_path, name, "0.2.0", "agentmux/__init__.py", "agentmux/cli/main.py")
    install(tmp_path, "other", "1.0", "other/agentmux/__init__.py", "agentmux.py")
    require_own_package([str(tmp_path)])


def test_an_editable_installation_from_before_the_new_name_has_no_file_of_it(
    tmp_path: Path,
) -> None:
    install(tmp_path, "agentmux", "0.2.0.dev0", "_editable_impl_agentmux.pth", "../bin/agentmux")
    require_own_package([str(tmp_path)])


def test_a_distribution_without_a_list_of_its_files_is_passed_over(tmp_path: Path) -> None:
    install(tmp_path, "agentmux", "1.0.2")
    next(tmp_path.glob("*/RECORD")).unlink()
    require_own_package([str(tmp_path)])


def test_another_distribution_with_the_package_is_named_with_its_place(tmp_path: Path) -> None:
    install(tmp_path, DISTRIBUTION, "0.2.0", "agentmux/__init__.py")
    install(tmp_path, "agentmux", "1.0.2", "agentmux/__init__.py", "agentmux/cli/main.py")
    (tmp_path / "agentmux" / "cli").mkdir(parents=True)  # from 3.12 on, a file that is not there
    for name in ("__init__.py", "cli/main.py"):  # is not listed
        (tmp_path / "agentmux" / name).touch()
    with pytest.raises(NotInstalledError) as caught:
        require_own_package([str(tmp_path)])
    assert "`agentmux` 1.0.2" in caught.value.message
    assert str(tmp_path) in caught.value.message
    assert "uninstall" not in " ".join(caught.value.hints), "that would take files of ours, too"


class Environment:
    """A virtual environment with a copy of the package, and the metadata of both projects."""

    def __init__(self, folder: Path) -> None:
        argv = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
        self.python = folder / "bin" / "python"
        (self.site,) = folder.glob("lib/python*/site-packages")
        # The libraries without what `.pth` files there add, such as this clone.
        (self.site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
        shutil.copytree(
            PACKAGE, self.site / "agentmux", ignore=shutil.ignore_patterns("__pycache__")
        )
        install(self.site, DISTRIBUTION, "0.2.0", "agentmux/__init__.py", "agentmux/cli/main.py")
        install(self.site, "agentmux", "1.0.2", "agentmux/__init__.py", "agentmux/cli/main.py")

    def run(self, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
        argv = [str(self.python), "-P", "-m", "agentmux", *words]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMUX_TMPDIR": str(home)}
        return subprocess.run(
            argv, check=False, cwd=home, env=environment, capture_output=True, text=True
        )


@pytest.fixture
def both(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "both")


@pytest.mark.long
def test_doctor_says_that_both_are_there(both: Environment, short_dir: Path) -> None:
    said = both.run("doctor", home=short_dir)
    assert said.returncode == 1
    assert f"`agentmux` 1.0.2, are mixed with those of AgentMux in {both.site}" in said.stdout


def test_who_came_last_replaced_our_files_and_the_error_says_so(
    both: Environment, short_dir: Path
) -> None:
    (both.site / "agentmux" / "__init__.py").write_text('__version__ = "1.0.2"\n')
    (both.site / "agentmux" / "cli" / "main.py").write_text(FOREIGN_MAIN)
    said = both.run("doctor", home=short_dir)
    assert said.returncode == ExitCode.MISSING
    assert said.stderr.startswith("error: the files of another project, `agentmux` 1.0.2")
    assert "Traceback" not in said.stderr


def test_any_other_failing_import_is_shown_as_it_is(both: Environment, short_dir: Path) -> None:
    shutil.rmtree(both.site / "agentmux-1.0.2.dist-info")
    (both.site / "agentmux" / "cli" / "main.py").write_text(FOREIGN_MAIN)
    said = both.run("doctor", home=short_dir)
    assert said.returncode == 1
    assert "ImportError: cannot import name 'main'" in said.stderr
