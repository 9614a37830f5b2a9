"""The trust file: private, bound to the real path, and ignored when it is broken."""

from pathlib import Path

import pytest

from agentmux.adapters.disk.trust_store import TrustStore


def test_what_was_written_is_read_and_can_be_forgotten(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "state/trust", tmp_path / "a")
    assert store.read() == {}
    assert not store.forget()
    assert not (tmp_path / "state").exists()
    store.write({"roles.coder": "abc"})
    assert TrustStore(tmp_path / "state/trust", tmp_path / "a").read() == {"roles.coder": "abc"}
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.forget()
    assert store.read() == {}


def test_another_project_is_not_trusted_even_with_the_file_of_this_one(tmp_path: Path) -> None:
    first, second = (TrustStore(tmp_path, tmp_path / name) for name in "ab")
    first.write({"roles.coder": "abc"})
    assert second.read() == {}
    second.path.write_bytes(first.path.read_bytes())
    assert second.read() == {}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"v": 2}', b"\xff", b'{"v": 1, "parts": []}'])
def test_a_broken_file_trusts_nothing(tmp_path: Path, data: bytes) -> None:
    store = TrustStore(tmp_path, tmp_path / "a")
    store.path.write_bytes(data)
    assert store.read() == {}
