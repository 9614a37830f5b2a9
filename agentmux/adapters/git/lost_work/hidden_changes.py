"""Changes of tracked files that git was told not to look at, and so does not show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agentmux.adapters.git.lost_work.file_hashes import file_hashes
from agentmux.adapters.git.program import GitProgram, split

_SHOWN: Final = frozenset("HMRCK?U")
"""How ``git ls-files -v`` marks files whose changes git shows. ``S`` is ``skip-worktree``, and a
small letter is ``assume-unchanged``."""


def hidden_changes(git: GitProgram) -> tuple[str, ...]:
    """Return the files of a work tree that differ from the index, and that git does not show so.

    Files that are not there are left out: a sparse checkout has none.

    Args:
        git: It runs at the top of the work tree.
    """
    listed = split(git.must_read("list the files", "ls-files", "-v", "-s", "-z").out)
    hidden = dict(_path_and_hash(each) for each in listed if each[0] not in _SHOWN)
    there = {path: index_hash for path, index_hash in hidden.items() if _is_file(git.root() / path)}
    now = file_hashes(git, there)
    return tuple(sorted(path for path, index_hash in there.items() if now[path] != index_hash))


def _path_and_hash(listed: str) -> tuple[str, str]:
    """Split ``S MODE HASH STAGE<tab>PATH``."""
    facts, _, path = listed.partition("\t")
    return path, facts.split()[2]


def _is_file(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)
