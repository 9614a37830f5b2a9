"""Temporary folders, also those of processes that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentmux.adapters.disk.scratch import scratch_folder

HOLDS = """
import sys
from agentmux.adapters.disk.scratch import scratch_folder
with scratch_folder("agentmux-x-") as folder:
    (folder / "index").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_process_left_goes_when_nobody_uses_it(
    temporary: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with scratch_folder("agentmux-y-") as folder:
            assert left.parent == folder.parent
            assert (left / "index").exists(), "it is in use"
        process.send_signal(number)
    assert left.exists()
    with scratch_folder("agentmux-y-") as folder, scratch_folder("agentmux-z-") as other:
        assert sorted(folder.parent.iterdir()) == sorted((folder, other))
        assert list(folder.iterdir()) == []
    assert list(left.parent.iterdir()) == []
    assert left.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("how", ["open", "link", "file"])
def test_a_folder_that_others_can_write_is_neither_used_nor_cleared(
    temporary: Path, how: str
) -> None:
    root, theirs = temporary / f"agentmux-{os.getuid()}", temporary / "theirs"
    theirs.mkdir()
    (theirs / "kept").touch()
    if how == "open":
        theirs.rename(root)
        root.chmod(0o777)
    elif how == "link":
        root.symlink_to(theirs)
    else:
        root.touch()
    with scratch_folder("agentmux-y-") as folder:
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    assert next(temporary.glob("*/kept")).exists()
