"""The settings of the fleet: only the user says which repositories a host may run."""

from pathlib import Path

import pytest

from agentmux.adapters.config.layers import load_settings
from agentmux.core.config.settings import FleetSettings
from agentmux.errors import ConfigError, ExitCode


def _load(folder: Path, user: str, project: str = "") -> FleetSettings:
    for name, text in (("user/config.yaml", user), ("project/.agentmux/config.yaml", project)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return load_settings(folder / "user", folder / "project", None).settings.fleet


def test_without_a_setting_a_host_runs_nothing(tmp_path: Path) -> None:
    assert _load(tmp_path, "") == FleetSettings(repos=(), lease_s=60.0)


def test_the_users_file_names_repositories_and_the_lease(tmp_path: Path) -> None:
    found = _load(tmp_path, "fleet: {repos: ['/work/*', 'https://x.org/o/*'], lease: 2m}")
    assert found == FleetSettings(repos=("/work/*", "https://x.org/o/*"), lease_s=120.0)


def test_a_projects_file_may_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`fleet` may stand in your own configuration") as caught:
        _load(tmp_path, "", "fleet: {repos: ['/*']}")
    assert caught.value.exit_code is ExitCode.CONFIG


def test_a_lease_that_no_heartbeat_could_renew_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 2s"):
        _load(tmp_path, "fleet: {lease: 1s}")
