"""The command that installs Apprise suits the installation."""

from pathlib import Path

import pytest

from agentmux.adapters.notify.extra import has_apprise, install_apprise


@pytest.mark.parametrize(
    ("left", "command"),
    [
        ("uv-receipt.toml", "uv pip install --python '/a b/python' apprise"),
        ("pipx_metadata.json", "pipx inject agentmux apprise"),
        ("pyvenv.cfg", "'/a b/python' -m pip install apprise"),
    ],
)
def test_the_command_suits_who_installed_agentmux(left: str, command: str, tmp_path: Path) -> None:
    prefix = tmp_path / "agentmux"
    prefix.mkdir()
    (prefix / left).touch()
    assert install_apprise(prefix, "/a b/python") == command


def test_apprise_is_found() -> None:
    assert has_apprise()
