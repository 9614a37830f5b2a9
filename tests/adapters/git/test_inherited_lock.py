"""A lock that a child process inherits."""

import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.git.inherited_lock import inherited_lock
from agentmux.errors import DataError
from agentmux.ports.git.repository import GitError


def test_the_lock_is_held_until_the_inheriting_process_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with inherited_lock(path, "busy") as held:
        child = subprocess.Popen(("cat",), stdin=subprocess.PIPE, pass_fds=(held,))
    with pytest.raises(GitError, match=r"^busy$"), inherited_lock(path, "busy", wait_s=0):
        pass
    child.communicate()
    with inherited_lock(path, "busy", wait_s=0):
        assert path.is_file()


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="away/lock"), inherited_lock(tmp_path / "away/lock", "x"):
        pass
