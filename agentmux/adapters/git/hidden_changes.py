"""Changes of tracked files that git was told not to look at, and so does not show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram, decoded, split

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
    there = {path: made for path, made in hidden.items() if _is_file(git.root() / path)}
    if not there:
        return ()
    # A line cannot name such a path, so it counts as changed.
    odd = {path for path in there if "\n" in path or path.startswith('"')}
    asked = [path for path in there if path not in odd]
    names = "".join(f"{path}\n" for path in asked).encode("utf-8", "surrogateescape")
    reply = git.must_read("read the files", "hash-object", "--stdin-paths", stdin=names)
    now = decoded(reply.out).split()
    changed = {path for path, made in zip(asked, now, strict=True) if there[path] != made}
    return tuple(sorted(odd | changed))


def _path_and_hash(listed: str) -> tuple[str, str]:
    """Split ``S MODE HASH STAGE<tab>PATH``."""
    facts, _, path = listed.partition("\t")
    return path, facts.split()[2]


def _is_file(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)
