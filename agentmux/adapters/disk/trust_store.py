"""The user's trust in a project: a private file below ``$XDG_STATE_HOME/agentmux/trust``.

The file belongs to the project's real path, so a copy of the project is not trusted. Of the trusted
parts it contains only hashes, since a configuration may be private.
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
    """The record of the user's trust in one project; its file is made by `write`, not before."""

    def __init__(self, folder: Path, project: Path) -> None:
        """Take the folder with the files of all projects, and the real path of this project."""
        self._project = os.fsencode(project).decode(errors="backslashreplace")
        name = sha256(os.fsencode(project)).hexdigest()[:32]
        self.path = folder / f"{name}.json"

    def read(self) -> dict[str, str]:
        """Return the digests of the trusted parts, by key; empty without a readable file."""
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
        """Record exactly these parts (digests by key) as trusted, and no others.

        Raises:
            DataError: The file cannot be written; the old record stays.
        """
        fields = {"v": VERSION, "project": self._project, "parts": dict(parts)}
        files.make_dir(self.path.parent)
        files.replace(self.path, files.json_bytes(fields))

    def forget(self) -> bool:
        """Remove the record, so that nothing is trusted any more; return whether there was one."""
        return files.remove(self.path)
