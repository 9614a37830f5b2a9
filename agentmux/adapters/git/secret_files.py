"""Reads the secret values in untracked ``.env`` files, so that they are not published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.git.program import GitProgram, decode_output
from agentmux.core.documents.secret_values import values_in

_LARGEST: Final = 1_000_000
_NAMES: Final = (":(top,glob)**/.env", ":(top,glob)**/.env.*", ":(top,glob)**/*.env")


def secret_values(folder: Path, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the values that seem secret in untracked ``.env`` files around ``folder``.

    These are all files ``.env``, ``.env.*`` and ``*.env`` of the repository that contains
    ``folder``. Whether a value seems secret depends on its name and form
    (`agentmux.core.documents.secret_values.is_secret`). Files that git ignores are read, too. Files
    that cannot be read, files over 1 MB, links, and files of nested repositories are skipped. The
    result is empty outside a repository. ``environ`` is git's environment.

    Raises:
        AgentmuxError: Git cannot list the files.
    """
    git = GitProgram(folder, environ)
    top = git.top_level()
    if top is None:
        return frozenset()
    listed = git.must_read(
        "list the .env files", "ls-files", "--others", "--directory", "-z", "--", *_NAMES
    )
    values: set[str] = set()
    for name in decode_output(listed.out).split("\0"):
        values.update(values_in(_text(top / name) if name and not name.endswith("/") else ""))
    return frozenset(values)


def _text(path: Path) -> str:
    return (read_limited(path, _LARGEST) or b"").decode("utf-8", "replace")
