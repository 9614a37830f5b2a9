"""The command that installs what is missing suits the installation."""

import tomllib
from pathlib import Path

import pytest

from agentmux.adapters.system.python.extras import APPRISE, DBOS, has_modules, install_command
from agentmux.core.names.version import DISTRIBUTION

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("left", "command"),
    [
        ("uv-receipt.toml", "uv pip install --python '/a b/python' apprise"),
        ("pipx_metadata.json", "pipx inject agentmux-cli apprise"),
        ("pyvenv.cfg", "'/a b/python' -m pip install apprise"),
    ],
)
def test_the_command_suits_who_installed_agentmux(left: str, command: str, tmp_path: Path) -> None:
    prefix = tmp_path / DISTRIBUTION
    prefix.mkdir()
    (prefix / left).touch()
    assert install_command(APPRISE, prefix, "/a b/python") == command


def test_versions_are_those_of_the_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert DBOS in extras["optional-dependencies"]["fleet"]
    assert install_command(DBOS, Path("/nowhere"), "p") == "p -m pip install 'dbos>=3.4,<4'"


def test_what_is_here_is_found() -> None:
    assert has_modules("apprise", "dbos", "sqlalchemy", "psycopg")
    assert not has_modules("apprise", "no_such_module")
