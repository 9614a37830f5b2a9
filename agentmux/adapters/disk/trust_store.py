"""What the user trusts of each project: a private file below ``$XDG_STATE_HOME/agentmux/trust``.

It goes by the project's real path, so a copy of the project is another one. Only hashes are kept:
what a configuration holds may be private.
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
    """The trust in one project; nothing is made before something is written."""

    def __init__(self, folder: Path, project: Path) -> None:
        """``folder`` is that of all projects, ``project`` the real path of this one."""
        self._project = os.fsencode(project).decode(errors="backslashreplace")
        name = sha256(os.fsencode(project)).hexdigest()[:32]
        self.path = folder / f"{name}.json"

    def read(self) -> dict[str, str]:
        """Return the digests of what is trusted, by key; nothing where that cannot be read."""
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
        """Trust exactly these.

        Raises:
            DataError: It cannot be written; what was trusted stays.
        """
        fields = {"v": VERSION, "project": self._project, "parts": dict(parts)}
        files.make_dir(self.path.parent)
        files.replace(self.path, files.json_bytes(fields))

    def forget(self) -> bool:
        """Trust nothing any more; whether anything was."""
        return files.remove(self.path)
