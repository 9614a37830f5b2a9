"""Records which parts of a project the user trusts, in ``$XDG_STATE_HOME/agentmux/trust``.

There is one private file per real path of a project, so a copy of the project is not trusted. It
contains only hashes of the trusted parts, because a configuration may be private.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.codec.digests import sha256

VERSION: Final = 1
_MOST: Final = 1 << 20


class TrustStore:
    """The record of the user's trust in one project; only `write` creates its file.

    In the methods, a key names a part of the project's files, such as ``agents.claude``
    (`trust.Part.key`); the part's hash is that of its path and its value (`trust.Part.digest`).
    """

    def __init__(self, folder: Path, project: Path) -> None:
        """Use the record of the project with the real path ``project`` in ``folder``."""
        self._project = os.fsencode(project).decode(errors="backslashreplace")
        name = sha256(os.fsencode(project)).hexdigest()[:32]
        self.path = folder / f"{name}.json"

    def read(self) -> dict[str, str]:
        """Return the hashes of the trusted parts, by key; empty if there is no valid record."""
        data = files.read_limited(self.path, _MOST)
        try:
            fields = files.json_fields(data or b"")
        except ValueError:
            return {}
        parts = fields.get("parts")
        ours = fields.get("v") == VERSION and fields.get("project") == self._project
        if not ours or not isinstance(parts, dict):
            return {}
        return {key: digest for key, digest in parts.items() if isinstance(digest, str)}

    def write(self, parts: Mapping[str, str]) -> None:
        """Record exactly these parts (hashes by key) as trusted; others are no longer trusted.

        ``parts`` maps the key of each part (`trust.Part.key`) to its hash (`trust.Part.digest`).

        Raises:
            DataError: The file cannot be written; the old record stays.
        """
        fields = {"v": VERSION, "project": self._project, "parts": dict(parts)}
        files.make_dir(self.path.parent)
        files.replace(self.path, files.json_bytes(fields))

    def forget(self) -> bool:
        """Remove the record, so that nothing is trusted; return whether there was one.

        Raises:
            DataError: The file cannot be removed.
        """
        return files.remove(self.path)
