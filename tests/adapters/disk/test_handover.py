"""What a command and the orchestrator that it starts exchange: environment and report."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.handover import (
    ReadyPipe,
    leave_environment,
    report,
    take_approval_environment,
    take_environment,
)
from agentmux.core.agents.environment import UMASK
from agentmux.errors import DataError

ENVIRON = {"KEY": "s\udce9cret\n", "EMPTY": ""}


def umask() -> str:
    own = os.umask(0o077)
    os.umask(own)
    return f"{own:03o}"


def test_an_environment_is_taken_once_and_nobody_else_may_read_it(short_dir: Path) -> None:
    pipe = ReadyPipe(short_dir, ENVIRON)
    (kept,) = [path for path in short_dir.iterdir() if path != pipe.path]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert take_environment(pipe.path) == {**ENVIRON, UMASK: umask()}
    assert take_environment(pipe.path) is None
    report(pipe.path, b"ready")
    assert pipe.wait(5, os.getpid()) == b"ready"
    pipe.close()
    assert list(short_dir.iterdir()) == []


APPROVAL = "6f1c1a52-6a51-5d53-9d31-0a4ff2f8a001"


def test_the_environment_of_an_approval_is_taken_once_and_nobody_else_may_read_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "session"
    home.mkdir()
    before = os.umask(0o002)
    leave_environment(home, APPROVAL, {**ENVIRON, UMASK: "of another shell"})
    os.umask(before)
    (kept,) = home.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert take_approval_environment(home, APPROVAL) == {**ENVIRON, UMASK: "002"}
    assert take_approval_environment(home, APPROVAL) is None
    assert list(home.iterdir()) == []
    outside = tmp_path / "outside"
    outside.write_text("mine")
    kept.symlink_to(outside)
    with pytest.raises(DataError):
        leave_environment(home, APPROVAL, ENVIRON)
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("nobody", [0, "ended"])
def test_a_process_that_has_ended_is_not_waited_for(short_dir: Path, nobody: object) -> None:
    """For a dead pane, tmux 3.8 reports no pid, which arrives here as 0."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    pid = 0 if nobody == 0 else process.pid
    pipe = ReadyPipe(short_dir, ENVIRON)
    began = time.monotonic()
    assert pipe.wait(120, pid) is None
    report(pipe.path, b"failed")  # a report from before its end is read
    assert pipe.wait(120, pid) == b"failed"
    assert time.monotonic() - began < 60
    pipe.close()


def test_what_nobody_took_goes_with_the_pipe_or_is_swept(short_dir: Path) -> None:
    ReadyPipe(short_dir, ENVIRON).close()
    assert list(short_dir.iterdir()) == []
    killed = ReadyPipe(short_dir, ENVIRON)
    assert files.sweep(short_dir, older_than_s=0) == 1
    assert list(short_dir.iterdir()) == [killed.path]
    killed.close()


def test_a_directory_that_takes_nothing_is_said_and_nothing_is_left(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(DataError, match="no such file"):
        ReadyPipe(short_dir / "gone", ENVIRON)
    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(DataError, match="no space left"):
        ReadyPipe(short_dir, ENVIRON)
    assert list(short_dir.iterdir()) == []
