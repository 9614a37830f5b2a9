"""Folders are deleted also where programs have made them read-only."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.adapters.disk.removal import delete_tree

DELETE = """
import sys
from pathlib import Path
from agentmux.adapters.disk.removal import delete_tree
from agentmux.errors import DataError
try:
    delete_tree(Path(sys.argv[1]))
except DataError as error:
    sys.exit(error.message)
"""


def delete(folder: Path) -> str:
    """Delete a folder as a user who obeys file modes; return the error, or nothing."""
    argv = [sys.executable, "-c", DELETE, str(folder)]
    obeying = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    argv = argv if os.geteuid() else [*obeying, *argv]
    return subprocess.run(argv, check=False, capture_output=True, text=True, timeout=60).stderr


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of modules as Go leaves it."""
    made = tmp_path / "work" / "pkg" / "mod" / "example.org"
    made.mkdir(parents=True)
    (made / "go.mod").write_text("module x\n")
    (made / "go.mod").chmod(0o400)
    hidden = made / "hidden"
    hidden.mkdir()
    (hidden / "file").write_text("")
    hidden.chmod(0o000)
    for folder in (made, made.parent, made.parent.parent):
        folder.chmod(0o500)
    return tmp_path / "work"


def test_read_only_folders_are_deleted(cache: Path) -> None:
    assert delete(cache) == ""
    assert not cache.exists()


def test_nothing_behind_a_link_is_touched(cache: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    elsewhere.chmod(0o500)
    (cache / "link").symlink_to(elsewhere)
    assert delete(cache) == ""
    assert (elsewhere / "kept").exists()
    assert elsewhere.stat().st_mode & 0o777 == 0o500


def test_what_cannot_be_deleted_is_named_and_the_rest_is_gone(tmp_path: Path) -> None:
    parent = tmp_path / "read-only"
    folder = parent / "work"
    (folder / "in").mkdir(parents=True)
    parent.chmod(0o500)
    assert delete(folder) == f"cannot delete `{folder}`: permission denied\n"
    assert list(folder.iterdir()) == []
    parent.chmod(0o700)


def test_what_is_gone_already_is_no_error(tmp_path: Path) -> None:
    delete_tree(tmp_path / "none")
