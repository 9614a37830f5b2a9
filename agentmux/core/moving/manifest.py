"""The manifest of an exported session: the first member of its file, which lists all others.

The content of a file is not trusted before it is checked, because anybody may have made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import FieldError, Json, from_fields, to_fields
from agentmux.core.names import layout
from agentmux.core.names.layout import INSIDE_MAX
from agentmux.errors import DataError

SCHEMA: Final = 1
"""The version of the file format."""

MANIFEST: Final = "manifest.json"
BUNDLE: Final = "repository.bundle"
INSIDE: Final = "session/"
"""The folder in the exported file that contains the session's files."""

MANIFEST_MAX: Final = 8 << 20
FILE_MAX: Final = 64 << 20
"""The maximum size of a session's file, in bytes; larger files are not exported."""
MEMBERS_MAX: Final = 20_000

HEAD_REF: Final = "refs/agentmux/head"
"""The ref in the bundle for the commit on which the session works."""
BASE_REF: Final = "refs/agentmux/base"
REVIEWED_REF: Final = "refs/agentmux/reviewed"
"""The ref in the bundle for the commit that a session which only reviews compares with."""
CHECKPOINT_REFS: Final = "refs/agentmux/checkpoints/"
"""The prefix of the refs in the bundle for the work-tree checkpoints; the number follows."""

_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,127}")
_PARTS_MAX: Final = 8
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")

FILES: Final = (layout.JOURNAL, layout.REQUIREMENTS)
"""The files directly in a session's directory that are exported."""

NOT_EXPORTED: Final = frozenset(
    {layout.LAUNCHES, layout.CHECKPOINTS, layout.WORK_TREE, layout.PIPELINE, layout.HANDOVER}
)
"""The folders of a session that are not exported.

They belong to one machine or to its agents, or are created again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file of the session that an exported file contains.

    Attributes:
        path: Its path, relative to the session's directory.
        size: Its size, in bytes.
        sha256: The SHA-256 of its content, in hex.
    """

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an exported session: its identity, its commits, and its files.

    Attributes:
        session: The uuid of the session in the file.
        source: The uuid of the session that was exported; differs from ``session`` for a copy.
        name: The name of the session's directory on the exporting machine.
        host: The name of the exporting machine.
        made_at: When the session was exported (UTC, ISO 8601).
        agentmux: The version of AgentMux that wrote the file.
        revision: The revision of the exported state.
        base: The base commit of the session.
        head: The commit on which the session works.
        checkpoint: The commit of the work-tree checkpoint with the session's files; None if there
            is none yet.
        branch: The short name of the session's branch; None if no branch is checked out.
        bundle: The SHA-256 of the git bundle; empty if there is no bundle because the remote has
            all commits.
        bundle_size: The size of the bundle, in bytes.
        inside: The path of the project in its repository, ``.`` for the top; only for display.
        members: The session's files.
        schema: The version of the file format.
    """

    session: str
    source: str
    name: str
    host: str
    made_at: str
    agentmux: str
    revision: int
    base: str
    head: str
    checkpoint: str | None = None
    branch: str | None = None
    bundle: str = ""
    bundle_size: int = 0
    inside: str = "."
    members: tuple[Member, ...] = ()
    schema: int = SCHEMA

    @property
    def is_copy(self) -> bool:
        """Whether the file is a copy, so that the exported session can still be resumed."""
        return self.session != self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """The fields of a manifest except ``members``, which needs its own decoder."""

    session: str
    source: str
    name: str
    host: str
    made_at: str
    agentmux: str
    revision: int
    base: str
    head: str
    checkpoint: str | None = None
    branch: str | None = None
    bundle: str = ""
    bundle_size: int = 0
    inside: str = "."
    schema: int = SCHEMA


def encode(manifest: Manifest) -> dict[str, object]:
    """Return the manifest as the content of a ``manifest.json``; `decode` is the inverse."""
    mapping = to_fields(manifest)
    return {**mapping, "members": [to_fields(each) for each in manifest.members]}


def decode(fields: Json) -> Manifest:
    """Return the manifest that the content of a ``manifest.json`` describes, after checking it.

    The file may be hostile: ids, names, paths and sizes are checked.

    Raises:
        DataError: A newer version wrote the manifest, or it is not valid.
    """
    schema = fields.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise DataError(
            f"the file has version {schema}, but this agentmux reads up to {SCHEMA}"
            f" (agentmux {_as_short_text(fields.get('agentmux'))} wrote it)",
            hints=("update agentmux",),
        )
    listed = fields.get("members")
    if schema != SCHEMA or not isinstance(listed, list) or len(listed) > MEMBERS_MAX:
        raise FieldError(f"{MANIFEST}: it is not that of an exported session")
    members = tuple(
        from_fields(Member, each if isinstance(each, dict) else {}, where=f"{MANIFEST}: members")
        for each in listed
    )
    plain: dict[str, Any] = to_fields(from_fields(_Plain, fields, where=MANIFEST))
    manifest = Manifest(**plain, members=members)
    wrong = next(_wrong(manifest), "")
    if wrong:
        raise FieldError(f"{MANIFEST}: {wrong}")
    return manifest


def _as_short_text(value: object) -> str:
    return value[:20] if isinstance(value, str) and value.isprintable() else "?"


def _wrong(found: Manifest) -> Iterator[str]:
    """Yield what is wrong with a manifest whose fields have the right types."""
    for name, form in _FORMS.items():
        value = getattr(found, name)
        if value is not None and not form.fullmatch(value):
            yield f"`{name}` is not valid"
    if not found.inside.isprintable():
        yield "`inside` is not valid"
    paths = [each.path for each in found.members]
    yield from _in_the_way(paths)
    for each in found.members:
        if (
            not is_exported_path(each.path)
            or each.size > FILE_MAX
            or not _SHA256.fullmatch(each.sha256)
        ):
            yield f"`{each.path[:80]!r}` is not a file that a session brings along"
    if layout.JOURNAL not in paths:
        yield "there is no journal"


def _in_the_way(paths: list[str]) -> Iterator[str]:
    """Yield which files conflict with others on disk; the case of letters is ignored."""
    names = {each.casefold() for each in paths}
    if len(names) != len(paths):
        yield "a file is listed twice"
    for path in paths:
        if not names.isdisjoint(_folders(path.casefold())):
            yield f"`{path[:80]!r}` is in a folder that is another file"


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that contain the file at ``path``, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


_FORMS: Final = {
    "session": _UUID,
    "source": _UUID,
    "name": _NAME,
    "host": _HOST,
    "made_at": re.compile(r"[0-9TZ:.+-]{10,40}"),
    "base": _COMMIT,
    "head": _COMMIT,
    "checkpoint": _COMMIT,
    "bundle": re.compile(r"|[0-9a-f]{64}"),
    "inside": re.compile(rf".{{1,{INSIDE_MAX}}}"),
}


def is_commit(text: str) -> bool:
    """Whether ``text`` has the form of a full commit hash: 40 or 64 hex digits."""
    return _COMMIT.fullmatch(text) is not None


def is_exported_path(path: str) -> bool:
    """Whether a file at this path is one that an export takes along and an import accepts.

    This depends on the path alone: no file is read.

    Args:
        path: The file's path, relative to the session's directory.
    """
    parts = path.split("/")
    plain = all(_PART.fullmatch(each) for each in parts) and len(parts) <= _PARTS_MAX
    if not plain:
        return False
    if len(parts) == 1:
        return path in FILES
    return "." not in parts[0] and parts[0].casefold() not in NOT_EXPORTED
