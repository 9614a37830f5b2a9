"""AgentMux is removed under a worker."""

import shutil
import subprocess
from pathlib import Path

import pytest

from agentmux.errors import ExitCode
from tests.e2e.test_upgrade import Tool
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long


def test_a_worker_whose_installation_is_removed_ends_and_fails_no_feature(
    host: FleetHost, tmp_path: Path
) -> None:
    tool = Tool(tmp_path / "tool")
    tool.install()
    log = tmp_path / "said"
    with log.open("wb") as said:
        worker = subprocess.Popen(
            [str(tool.bin / "agentmux"), "fleet", "worker"],
            cwd=host.project.path,
            env=host.project.env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        host.project.until(lambda: b" runs with " in log.read_bytes())
        shutil.rmtree(tool.place)
        assert worker.wait(60) == ExitCode.MISSING
    finally:
        worker.kill()
        worker.wait()
    assert f"{tool.place} was removed or replaced" in log.read_text()
    assert "agentmux fleet worker" in log.read_text()
