"""The files of the fleet on a host, and those that its user names."""

import os
from pathlib import Path

import pytest

from agentmux.fleet.engine.fleet_home import FleetHome, is_private


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601, 0o620, 0o777])
def test_a_file_that_others_may_open_is_not_private(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "url"
    path.touch()
    path.chmod(mode)
    assert not is_private(path)
    path.chmod(0o600)
    assert is_private(path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file away")
def test_a_file_of_somebody_else_is_not_private(tmp_path: Path) -> None:
    path = tmp_path / "url"
    path.touch(0o600)
    os.chown(path, 12345, -1)
    assert not is_private(path)


def test_the_url_of_the_database_is_kept_for_the_user_alone(tmp_path: Path) -> None:
    place, before = FleetHome(tmp_path / "fleet"), os.umask(0)
    place.keep_url("postgresql://me:secret@host/fleet")
    os.umask(before)
    assert is_private(tmp_path / "fleet" / "url")
    assert place.url() == "postgresql://me:secret@host/fleet"
