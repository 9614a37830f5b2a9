"""What somebody wrote into a worktree whose making was killed: kept when it is made again.

Nobody is expected to work there, but the folder looks like a worktree, and git works in it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.removal import delete_tree
from agentmux.adapters.disk.scratch import scratch_folder
from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import GitProgram, decode_output, split
from agentmux.core.names import layout
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.ports.git.worktrees import WorktreeSpec

_GIT: Final = ".git"
_UUID_SHOWN: Final = 8
_PAGE: Final = 4096


def set_folder_aside(spec: WorktreeSpec) -> None:
    """Rename the folder of a half-made worktree, so that the worktree can be made in its place."""
    free = (_aside(spec, number) for number in count(1))
    aside = next(each for each in free if not os.path.lexists(each))
    spec.path.rename(aside)
    (aside / _GIT).unlink(missing_ok=True)  # its git directory is made again


def list_logged_commits(git: GitProgram, git_dir: Path) -> tuple[str, ...]:
    """Return the ids of the commits at which the HEAD of a worktree was, the newest first.

    Empty if git cannot read its log, which may be missing in a worktree that is only half made.
    """
    reply = git.read("log", "--walk-reflogs", "--format=%H", "HEAD", "--", cwd=git_dir)
    return tuple(dict.fromkeys(decode_output(reply.out).split())) if reply.status == 0 else ()


def compare_aside(spec: WorktreeSpec) -> tuple[str, ...]:
    """Delete each folder that was set aside, unless it has something that the worktree has not.

    The worktree must be complete. Return a warning for each folder that stays. A file that has the
    first pages of the worktree's is taken for one that a killed git has not written to its end.
    """
    warnings: list[str] = []
    for aside in sorted(spec.path.parent.glob(f"{glob.escape(_aside(spec, 1).name)}*")):
        own = sorted(_list_own(aside, spec.path))
        if not own:
            delete_tree(aside)
            continue
        files = format_count(len(own), "file that", "files that")
        verb = "is" if len(own) == 1 else "are"
        warnings.append(
            f"{files} somebody wrote while the worktree was only half made"
            f" ({abbreviate_names(own)}) {verb} kept in {aside}"
        )
    return tuple(warnings)


def _aside(spec: WorktreeSpec, number: int) -> Path:
    again = f"-{number}" if number > 1 else ""
    return spec.path.with_name(f"{spec.path.name}.half-made-{spec.session[:_UUID_SHOWN]}{again}")


def _list_own(aside: Path, made: Path) -> Iterator[str]:
    """Yield the files in ``aside`` whose content the worktree ``made`` does not have."""
    for top, folders, names in os.walk(aside):
        links = [each for each in folders if Path(top, each).is_symlink()]
        for name in (*names, *links):
            path = Path(top, name)
            inner = path.relative_to(aside)
            if not _has_all_of(made / inner, path):
                yield str(inner)


def _has_all_of(whole: Path, part: Path) -> bool:
    """Whether two paths are the same link or file, or ``part`` is one that git began to write.

    The kernel writes whole pages; any other beginning of a file was cut by somebody.
    """
    if part.is_symlink() or whole.is_symlink():
        both = part.is_symlink() and whole.is_symlink()
        return both and part.readlink() == whole.readlink()
    if not (part.is_file() and whole.is_file()):
        return False
    size = part.stat().st_size
    if size % _PAGE and size != whole.stat().st_size:
        return False
    with part.open("rb") as mine, whole.open("rb") as theirs:
        return all(
            block == theirs.read(len(block)) for block in iter(lambda: mine.read(1 << 16), b"")
        )


def list_half_made_changes(
    git: GitProgram, spec: WorktreeSpec, tip: str | None, common: Path
) -> tuple[str, ...]:
    """Return the files of a half-made worktree that nobody but a person can have written, sorted.

    They differ from those of the commit ``tip`` (None: of ``spec.commit``) and from those of the
    last work-tree checkpoint. Missing files and files that git ignores are left out. Paths are
    relative to the worktree's top. Its own git directory, which may be incomplete, is not read;
    ``common`` is the one that all worktrees share.

    Raises:
        GitError: Git cannot read the commit.
    """
    saved = spec.checkpoint
    left: set[str] | None = None
    with scratch_folder("agentmux-half-made-") as scratch:
        for number, commit in enumerate((tip or spec.commit, saved.commit if saved else None)):
            if commit is None:
                continue
            there = git.with_variables(
                {
                    **session_objects.variables_to_read(spec.home),
                    "GIT_DIR": str(common),
                    "GIT_WORK_TREE": str(spec.path),
                    "GIT_INDEX_FILE": str(scratch / str(number)),
                }
            )
            if there.run("read-tree", commit).status == 0:
                changed = _list_changes(there, spec.path)
                left = changed if left is None else left & changed
    return tuple(sorted(each for each in left or () if not layout.is_ours(each)))


def _list_changes(git: GitProgram, top: Path) -> set[str]:
    words = ("ls-files", "-z", "--modified", "--others", "--exclude-standard")
    listed = split(git.must_read("list changes", *words).out)
    return {each for each in listed if os.path.lexists(top / each)}
