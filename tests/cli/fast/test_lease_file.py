"""The lease file as the orchestrator reads it: only a session without one belongs to no fleet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentmux.cli.fast.orchestrator import require_lease
from agentmux.core.fleet.lease import MAX, LeaseLapsedError
from agentmux.wiring import machine


def test_without_a_file_a_session_acts(tmp_path: Path) -> None:
    require_lease(tmp_path / "lease", machine.now)


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder", "large"])
def test_what_is_no_lease_file_keeps_the_session_from_acting(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "lease", tmp_path / "other"
    if kind == "link":
        other.write_text("{}")
    if kind.endswith("link"):
        path.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b" " * (MAX + 1))
    with pytest.raises(LeaseLapsedError):
        require_lease(path, machine.now)
