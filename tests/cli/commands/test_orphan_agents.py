"""Agents that outlived their tmux server: which session they belong to."""

import os
import shutil
import subprocess
from pathlib import Path

from agentmux.cli.commands.look import orphan_agents


def test_an_agent_whose_directory_cannot_be_examined_is_nobodys(tmp_path: Path) -> None:
    uuid = f"uuid-of-{tmp_path}"
    place = {"AGENTMUX_SESSION_ID": uuid, "AGENTMUX_SESSION_DIR": f"/{'n' * 300}"}
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, **place}) as agent:
        try:
            assert orphan_agents.find_survivors([(uuid, tmp_path)]) == ()
        finally:
            agent.kill()


def test_the_agents_of_the_original_are_not_those_of_a_copy(tmp_path: Path) -> None:
    """Both sessions have the same id, but the copy must not end the original's agents."""
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    copy.mkdir()
    uuid = f"uuid-of-{tmp_path}"
    place = {"AGENTMUX_SESSION_ID": uuid, "AGENTMUX_SESSION_DIR": str(original)}
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, **place}) as agent:
        assert orphan_agents.find_survivors([(uuid, copy)]) == ()
        (found,) = orphan_agents.find_survivors([(uuid, copy), (uuid, original)])
        assert found.pid == agent.pid
        shutil.rmtree(original)
        (found,) = orphan_agents.find_survivors([(uuid, copy)])  # it was moved
        assert found.pid == agent.pid
        agent.kill()
