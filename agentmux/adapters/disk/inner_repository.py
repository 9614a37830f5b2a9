"""The empty git repository in a project's sessions folder.

``git clean -fdx`` spares an untracked folder that is itself a repository.
`adapters/git/clean_protection.py` decides when the repository is created.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.system.ids import new_id
from agentmux.core.names import layout
from agentmux.errors import DataError

NAME: Final = ".git"

_DESCRIPTION: Final = (
    "This repository is empty. AgentMux made it so that `git clean -fdx` in the repository around"
    " it spares the sessions in this folder.\n"
)
_FILES: Final = {
    "HEAD": "ref: refs/heads/agentmux-sessions\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    "description": _DESCRIPTION,
    "info/exclude": "*\n",
}
_FOLDERS: Final = ("info", "objects", "refs")


def has_repository(sessions: Path) -> bool:
    """Return whether the sessions folder contains anything named ``.git``, ours or not."""
    return os.path.lexists(sessions / NAME)


def make_repository(sessions: Path) -> None:
    """Create the empty repository ``.git`` in a sessions folder, so that ``git clean`` spares it.

    It is made under a temporary name, then renamed to ``.git``.

    Raises:
        DataError: A folder cannot be created.
        OSError: A file cannot be written, or the name is taken.
    """
    folder = sessions / f"{layout.MAKING_PREFIX}{new_id()}"
    try:
        for name in _FOLDERS:
            files.make_dir(folder / name)
        for name, text in _FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        folder.rename(sessions / NAME)
    finally:
        _remove(folder)


def remove_repository(sessions: Path) -> None:
    """Remove the repository in the sessions folder if `make_repository` created it.

    Otherwise it does nothing, and it does not raise. The repository is renamed first: half of a
    repository would look like a whole one, but protect nothing.
    """
    description = files.read_limited(sessions / NAME / "description", 1 << 12)
    if description == _DESCRIPTION.encode():
        old = sessions / f"{layout.MAKING_PREFIX}{new_id()}"
        with suppress(OSError):
            (sessions / NAME).rename(old)
        _remove(old)


def _remove(folder: Path) -> None:
    from agentmux.adapters.disk.removal import delete_tree

    with suppress(DataError):  # what stays has no name that git would take for a repository
        delete_tree(folder)
