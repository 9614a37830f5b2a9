"""The manifest of an exported session: what its file says first, and what must be in it.

The content of a file is hostile until it is checked: somebody else may have made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import FieldError, Json, from_fields, to_fields
from agentmux.core.names import layout
from agentmux.errors import DataError

SCHEMA: Final = 1
"""The version of the form of the file."""

MANIFEST: Final = "manifest.json"
BUNDLE: Final = "repository.bundle"
INSIDE: Final = "session/"
"""Where the files of the session are in the file."""

MANIFEST_MAX: Final = 8 << 20
FILE_MAX: Final = 64 << 20
"""The most bytes of a file of the session; a larger one stays behind."""
MEMBERS_MAX: Final = 20_000
INSIDE_MAX: Final = 1000
"""The most characters of the place of a project in its repository."""

HEAD_REF: Final = "refs/agentmux/head"
"""In the bundle: the commit on which the session works."""
BASE_REF: Final = "refs/agentmux/base"
REVIEWED_REF: Final = "refs/agentmux/reviewed"
"""In the bundle: the commit with which a session that only reviews compares."""
CHECKPOINT_REFS: Final = "refs/agentmux/checkpoints/"
"""In the bundle: the work-tree checkpoints, by number."""

_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,127}")
_PARTS_MAX: Final = 8
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")

FILES: Final = (layout.JOURNAL, layout.REQUIREMENTS)
"""The files directly in a session's directory that come along."""

STAYS: Final = frozenset(
    {layout.LAUNCHES, layout.CHECKPOINTS, layout.WORK_TREE, layout.PIPELINE, layout.HANDOVER}
)
"""The folders of a session that stay: of one machine, of its agents, or made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file in an exported session; ``path`` is relative to the session's directory."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the file of an exported session is about.

    Attributes:
        session: The uuid of the session in the file.
        source: Its uuid where it was exported; another one only for a copy.
        name: The name of its directory there.
        host: The name of that machine.
        made_at: When it was exported (UTC, ISO 8601).
        agentmux: The version of AgentMux that wrote it.
        revision: The revision of the state that was exported.
        base: The commit on which the session began.
        head: The commit on which it works.
        checkpoint: The work-tree checkpoint with its files; None if it has none yet.
        branch: Short name of its branch; None where none is checked out.
        bundle: The SHA-256 of the bundle; empty if there is none, as all is at the remote.
        bundle_size: In bytes.
        inside: Where its project is in the repository; ``.`` is the top. It is only shown.
        members: The session's files.
        schema: The version of this form.
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
        """Whether the session was left resumable where it was exported."""
        return self.session != self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """The fields of a manifest whose types have a decoder."""

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
    """Return the manifest as a mapping; `decode` is the inverse."""
    mapping = to_fields(manifest)
    return {**mapping, "members": [to_fields(each) for each in manifest.members]}


def decode(fields: Json) -> Manifest:
    """Return the manifest that the content of a ``manifest.json`` describes.

    Raises:
        DataError: A newer version wrote it, or it is wrong.
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
    """Yield what is wrong in a manifest whose fields have the right types."""
    for name, form in _FORMS.items():
        value = getattr(found, name)
        if value is not None and not form.fullmatch(value):
            yield f"`{name}` is not valid"
    if not found.inside.isprintable():
        yield "`inside` is not valid"
    paths = [each.path for each in found.members]
    yield from _in_the_way(paths)
    for each in found.members:
        if not may_come(each.path) or each.size > FILE_MAX or not _SHA256.fullmatch(each.sha256):
            yield f"`{each.path[:80]!r}` is not a file that a session brings along"
    if layout.JOURNAL not in paths:
        yield "there is no journal"


def _in_the_way(paths: list[str]) -> Iterator[str]:
    """Yield which of the files cannot stand beside the others; capitals make no difference."""
    names = {each.casefold() for each in paths}
    if len(names) != len(paths):
        yield "a file is listed twice"
    for path in paths:
        if not names.isdisjoint(_folders(path.casefold())):
            yield f"`{path[:80]!r}` is in a folder that is another file"


def _folders(path: str) -> Iterator[str]:
    """Yield the folders on the way to a file, the nearest first."""
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
    """Whether ``text`` has the form of the id of a commit."""
    return _COMMIT.fullmatch(text) is not None


def may_come(path: str) -> bool:
    """Whether a file of a session, by its path in the directory, may be in its exported file."""
    parts = path.split("/")
    plain = all(_PART.fullmatch(each) for each in parts) and len(parts) <= _PARTS_MAX
    if not plain:
        return False
    if len(parts) == 1:
        return path in FILES
    return "." not in parts[0] and parts[0].casefold() not in STAYS
