import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.moving.manifest import (
    FILE_MAX,
    Manifest,
    Member,
    decode,
    encode,
    is_exported_path,
)
from agentmux.errors import DataError

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
SHA = "0" * 64
COMMIT = "a" * 40
JOURNAL = Member(path="tool_events.jsonl", size=1, sha256=SHA)


def manifest(**more: object) -> dict[str, object]:
    made = Manifest(
        session=UUID, source=UUID, name="20260101-101500-add-auth", host="box", agentmux="1",
        made_at="2026-01-01T10:15:00.000Z", revision=3, base=COMMIT, head=COMMIT,
        checkpoint=COMMIT, branch="agentmux/add-auth", bundle=SHA, bundle_size=9,
        members=(JOURNAL, Member(path="history/1.0/04_planning/plan.md", size=2, sha256=SHA)),
    )  # fmt: skip
    return {**encode(made), **more}


def test_a_manifest_survives() -> None:
    fields = manifest()
    assert encode(decode(fields)) == fields
    assert not decode(fields).is_copy


@pytest.mark.parametrize(
    "more",
    [
        {"schema": 0},
        {"schema": "1"},
        {"schema": True},
        {"members": {}},
        {"members": []},
        {"members": [1]},
        {"members": [{"path": "tool_events.jsonl"}]},
        {"session": "../../etc"},
        {"source": ""},
        {"name": "a/b"},
        {"name": "-x"},
        {"host": "a b"},
        {"host": "\x1b[31m"},
        {"base": "HEAD"},
        {"head": "--upload-pack=x"},
        {"checkpoint": "z" * 40},
        {"bundle": "short"},
        {"bundle_size": -1},
        {"revision": 1e400},
        {"made_at": 1},
        {"inside": "\x1b[31m"},
        {"inside": ""},
    ],
)
def test_what_is_wrong_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(DataError):
        decode(manifest(**more))


def test_a_newer_version_is_named() -> None:
    with pytest.raises(DataError, match="version 2, but this agentmux reads up to 1"):
        decode(manifest(schema=2, unknown=[]))


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "..", "../x", "/etc/passwd", "a/../b", "a//b", "a/./b", "a/", "-a/b", "a\\b",
        "a/b\0",
        "state.json", "session.lock", "wake.fifo", "state.json/x", ".git/config", "x/.git/config",
        "launches/x/launch.json", "Launches/x", "checkpoints/coder/session-latest.json",
        "work-tree/objects/aa", "pipeline/aa", "handover/diff.patch", "orchestrator.log",
        "a/b\nc", "a/\u202e", "x" * 200 + "/y", "/".join("abcdefghij"),
    ],
)  # fmt: skip
def test_a_path_that_may_not_come(path: str) -> None:
    assert not is_exported_path(path)
    listed = [*manifest()["members"], {"path": path, "size": 0, "sha256": SHA}]  # type: ignore[misc]
    with pytest.raises(DataError):
        decode(manifest(members=listed))


@given(st.text(max_size=40))
def test_no_path_that_may_come_leads_out(path: str) -> None:
    if is_exported_path(path):
        assert ".." not in path.split("/")
        assert not path.startswith(("/", "."))
        assert path.isascii()
        assert path.isprintable()


def test_names_that_differ_in_case_alone_are_refused() -> None:
    both = [{"path": f"02_architecting/{name}.md", "size": 0, "sha256": SHA} for name in "aA"]
    with pytest.raises(DataError, match="listed twice"):
        decode(manifest(members=[*manifest()["members"], *both]))  # type: ignore[misc]


def test_a_folder_that_is_another_file_is_refused() -> None:
    for folder in ("02_architecting/a", "02_ARCHITECTING/A"):
        both = [
            {"path": path, "size": 0, "sha256": SHA}
            for path in ("02_architecting/a", f"{folder}/in/b.md")
        ]
        with pytest.raises(DataError, match="folder that is another file"):
            decode(manifest(members=[*manifest()["members"], *both]))  # type: ignore[misc]


def test_a_file_that_is_too_large_is_refused() -> None:
    large = {"path": "02_architecting/a.md", "size": FILE_MAX + 1, "sha256": SHA}
    with pytest.raises(DataError):
        decode(manifest(members=[*manifest()["members"], large]))  # type: ignore[misc]
