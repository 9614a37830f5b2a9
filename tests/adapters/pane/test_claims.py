"""Which launch has claimed which conversation, with locks taken by the real wrapper."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.pane.claims import ClaimFolder
from tests.conftest import WRAPPER


@pytest.fixture
def claims(tmp_path: Path) -> ClaimFolder:
    return ClaimFolder(tmp_path / "claims")


def test_a_claim_is_told_apart_by_agent_home_and_conversation(claims: ClaimFolder) -> None:
    words = [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("x", "b", "c"), ("ab", "", "c")]
    assert len({claims.path(*each) for each in words}) == len(words)
    assert claims.path("a", "b", "../../etc/passwd").parent == claims.path("a", "b", "c").parent
    assert claims.path("a", "b", "\udcff").suffix == ".lock"


def test_looking_makes_nothing(claims: ClaimFolder, tmp_path: Path) -> None:
    assert claims.holder(claims.path("a", "b", "c")) is None
    assert claims.latest("a", "b", "c") == ()
    assert list(tmp_path.glob("claims*")) == []


def test_the_holder_is_named_while_its_agent_lives(
    claims: ClaimFolder, tmp_path: Path, wait_until: Any
) -> None:
    path = claims.path("demo", "/home", "id")
    folder = tmp_path / "20260101-101500-x" / "launches" / "0123456789ab"
    folder.mkdir(parents=True)
    launch = {"argv": ["sleep", "600"], "env": {}, "unset": [], "cwd": "/", "claim": str(path)}
    (folder / "launch.json").write_text(json.dumps(launch))
    process = subprocess.Popen(
        [sys.executable, "-IS", str(WRAPPER), str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: claims.holder(path), what="the claim")
    assert claims.is_held(path)
    assert claims.holder(path) == f"process {process.pid} of session 20260101-101500-x"
    process.terminate()
    process.wait(60)
    assert not claims.is_held(path)
    assert claims.holder(path) is None


def test_two_may_look_at_once(claims: ClaimFolder) -> None:
    path = claims.path("a", "b", "c")
    path.parent.mkdir()
    path.touch()
    assert [claims.is_held(path), claims.is_held(path)] == [False, False]


def test_where_there_are_no_locks_nobody_holds_one(
    claims: ClaimFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claims.path("a", "b", "c")
    path.parent.mkdir()
    path.touch()

    def refused(_fd: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    assert not claims.is_held(path)
    assert claims.holder(path) is None


def test_what_cannot_be_looked_at_is_held_by_nobody(claims: ClaimFolder) -> None:
    path = claims.path("a", "b", "c")
    path.parent.mkdir()
    path.symlink_to(path)
    assert not claims.is_held(path)
    assert claims.holder(path) is None


def test_the_latest_is_the_last_one_noted(claims: ClaimFolder) -> None:
    claims.note_latest("demo", "/home", "/project", ("0123456789ab",))
    claims.note_latest("demo", "/home", "/project", ("ba9876543210", "ba9876543211"))
    claims.note_latest("demo", "/home", "/other", ("aaaaaaaaaaaa",))
    assert claims.latest("demo", "/home", "/project") == ("ba9876543210", "ba9876543211")
    assert claims.latest("other", "/home", "/project") == ()


def test_notes_are_private(claims: ClaimFolder, tmp_path: Path) -> None:
    claims.note_latest("demo", "/home", "/project", ("0123456789ab",))
    (note,) = (tmp_path / "claims").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    assert note.parent.stat().st_mode & 0o777 == 0o700
