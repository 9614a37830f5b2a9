"""Changes in tracked files that git was told to ignore, for example by ``skip-worktree``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agentmux.adapters.git.lost_work.file_hashes import file_hashes
from agentmux.adapters.git.program import GitProgram, split

_SHOWN: Final = frozenset("HMRCK?U")
"""The flags of ``git ls-files -v`` for files whose changes git shows. Of the others, ``S`` means
``skip-worktree``, and a lowercase letter means ``assume-unchanged``."""


def hidden_flags(git: GitProgram) -> dict[str, str]:
    """Return the files whose changes git was told not to show, with the letter of their flags.

    They are the letters of ``git ls-files -v``. Paths are relative to the top, and may be missing
    on the disk.
    """
    listed = split(git.must_read("list the files", "ls-files", "-v", "-z").out)
    return {each[2:]: each[0] for each in listed if each[0] not in _SHOWN}


def hidden_changes(git: GitProgram) -> tuple[str, ...]:
    """Return the changed files whose changes git was told not to show, sorted.

    Git was told by ``skip-worktree`` or ``assume-unchanged``. Changed means that the file differs
    from the index. Paths are relative to the top. Missing files are left out, because a sparse
    checkout lacks files on purpose.

    Args:
        git: Runs at the top of the work tree.
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
