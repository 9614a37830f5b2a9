"""The work that git still stores for a worktree whose folder was deleted, moved or not mounted.

The index, HEAD, and the state of a rebase or merge are in the worktree's git directory, which is in
the repository. It does not show whether the folder was deleted or is elsewhere. A folder that is
elsewhere needs that git directory: without it, the folder is no work tree any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git import session_objects
from agentmux.adapters.git.lost_work.left_commits import left_commits, without_folder
from agentmux.adapters.git.lost_work.submodules import absent_modules_with_work
from agentmux.adapters.git.program import (
    GitProgram,
    decode_output,
    split,
    to_git_error,
    to_refused_error,
)
from agentmux.adapters.git.repository import in_progress
from agentmux.adapters.git.work_tree import ASIDE, MARKER, WorktreeMarker, last_commit_in
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.ports.git.worktrees import WorktreeSpec

_ELSEWHERE: Final = " (moved or deleted)"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWork:
    """The work that is stored in the git directory of one worktree.

    Attributes:
        git_dir: That directory.
        head: The id of the commit that is checked out; None if there is no commit yet.
        own: The ids of the commits that the worktree's private refs point to (see `own_commits`),
            and of those that its HEAD has left (see `left_commits`).
        staged: The files whose content only the index has, relative to the worktree's top.
            Submodules with commits that none of their remotes has are included: git's name for
            them, and ``/``.
        operation: The unfinished git operation, such as ``rebase``; empty if there is none.
    """

    git_dir: Path
    head: str | None
    own: tuple[str, ...]
    staged: tuple[str, ...]
    operation: str


def held_work(git: GitProgram, git_dir: Path, spec: WorktreeSpec) -> HeldWork:
    """Return the work of the worktree ``spec`` that is stored in its git directory ``git_dir``.

    Reads only. A staged file counts if its content is in none of these commits: HEAD,
    ``spec.commit``, the session's last work-tree checkpoint, and the commit that was checked out at
    that checkpoint.

    Raises:
        GitError: Git cannot read the index or the refs there.
    """
    saved, branch = spec.checkpoint, (f"refs/heads/{spec.branch}",) if spec.branch else ()
    there, began = without_folder(git, git_dir), spec.commit
    left = left_commits(there, since=began, known=(began, *branch))
    known = ("HEAD", spec.commit, *((saved.head, saved.commit) if saved is not None else ()))
    return HeldWork(
        git_dir=git_dir,
        head=git.commit("HEAD", cwd=git_dir),
        own=(*own_commits(git, git_dir), *(each.commit for each in left)),
        staged=(
            *_list_staged(git, git_dir, known, session_objects.variables_to_read(spec.home)),
            *(
                f"{each.relative_to(git_dir / 'modules')}/"
                for each in absent_modules_with_work(git, git_dir)
            ),
        ),
        operation=in_progress(git_dir) or "",
    )


def own_commits(git: GitProgram, place: Path) -> tuple[str, ...]:
    """Return the ids of the commits that a worktree's private refs point to, as during a bisection.

    Private refs are those that git keeps for one worktree alone: ``refs/worktree`` and
    ``refs/bisect``. ``place`` is the top of the worktree, or its git directory.

    Raises:
        GitError: Git cannot list the refs.
    """
    words = ("for-each-ref", "--format=%(refname)", "refs/worktree", "refs/bisect")
    reply = git.read(*words, cwd=place)
    if reply.status != 0:
        raise to_git_error(f"list the refs of {place}", reply)
    commits = (git.commit(name, cwd=place) for name in decode_output(reply.out).splitlines())
    return tuple(each for each in commits if each is not None)


def staged_for(git: GitProgram, place: str) -> tuple[str, ...]:
    """Return the files staged in the worktree that git has registered at the path ``place``.

    They are the paths, relative to the worktree's top, whose content in the index differs from its
    HEAD. Empty if git has no worktree there. The worktree's folder itself need not exist.

    Raises:
        GitError: Git cannot read the worktree's index.
    """
    for link in git.common_dir().glob("worktrees/*/gitdir"):
        if link.read_text(errors="surrogateescape").strip() == f"{place}/.git":
            return _list_staged(git, link.parent, ("HEAD",))
    return ()


def _list_staged(
    git: GitProgram,
    git_dir: Path,
    known: Sequence[str | None],
    extra: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    if not (git_dir / "index").exists():
        return ()
    words = (
        *("diff-index", "--cached", "--name-only", "-z", "--no-renames"),
        "--ita-invisible-in-index",  # `git add -N` has staged no content
    )
    commits = [each for each in known if each is not None]
    replies = [git.read(*words, each, "--", cwd=git_dir, extra=extra) for each in commits]
    path_sets = [set(split(each.out)) for each in replies if each.status == 0]
    if not path_sets:  # HEAD has no commit, and the other commits no longer exist
        raise to_git_error(f"read the index in {git_dir}", replies[0])
    return _of_the_user(set.intersection(*path_sets))


def saved_files(
    git: GitProgram, spec: WorktreeSpec, others: Sequence[str | None]
) -> tuple[str, ...]:
    """Return the files whose content only the session's last work-tree checkpoint has, sorted.

    That content is neither in the commit that was checked out at the checkpoint, nor in ``others``,
    the ids of more commits; None there, and missing commits, are ignored. Paths are relative to the
    worktree's top. Empty if there is no checkpoint, or if its objects are gone.
    """
    saved = spec.checkpoint
    if saved is None or saved.head is None:
        return ()
    return unique_files(git, spec.home, saved.commit, (saved.head, *others))


def unique_files(
    git: GitProgram, home: Path, commit: str, others: Sequence[str | None], *options: str
) -> tuple[str, ...]:
    """Return the files in which a checkpoint differs from each of the commits ``others``, sorted.

    None there, and missing commits, are ignored; but without the checkpoint ``commit``, or the
    first of ``others``, the result is empty. ``home`` is the session's directory, and ``options``
    are for ``git diff-tree``, which compares each of ``others`` with the checkpoint.
    """
    extra = session_objects.variables_to_read(home)
    words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", *options)
    left: set[str] | None = None
    for each in others:
        reply = git.read(*words, each, commit, extra=extra) if each is not None else None
        if reply is not None and reply.status == 0:
            left = set(split(reply.out)) if left is None else left & set(split(reply.out))
        elif left is None:
            return ()
    return _of_the_user(left or ())


def _of_the_user(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if not layout.is_ours(path)))


def set_aside(git: GitProgram, git_dir: Path, spec: WorktreeSpec) -> None:
    """Set a worktree's git directory aside: free its path and branch for a new worktree.

    The directory ``git_dir`` itself is kept, because the worktree's folder may be elsewhere: it
    remains a work tree there. If its HEAD is on the session's branch, it is detached, because git
    allows a branch in one worktree only. It is safe to repeat.

    Raises:
        GitRefusedError: A hook refuses.
    """
    on = git.read("symbolic-ref", "-q", "HEAD", cwd=git_dir)
    head = git.commit("HEAD", cwd=git_dir)
    if head is not None and on.text == f"refs/heads/{spec.branch}":
        words = ("update-ref", "--no-deref", "-m", f"agentmux: {spec.home.name}", "HEAD", head)
        reply = git.run(*words, extra={"GIT_DIR": str(git_dir)})
        if reply.status != 0:
            raise to_refused_error(f"git could not detach the HEAD in {git_dir}", reply)
    place = spec.path.with_name(f"{git_dir.name}{_ELSEWHERE}")
    # The marker comes last: until then the directory counts as the session's, and a second call
    # sets it aside again.
    for name, text in (
        ("gitdir", f"{place}/.git"),
        ("locked", f"{spec.session}{ASIDE}"),
        (MARKER, f"{spec.home}\n{spec.session}{ASIDE}"),
    ):
        files.replace(git_dir / name, f"{text}\n".encode("utf-8", "surrogateescape"))


def is_set_aside(marker: WorktreeMarker | None, spec: WorktreeSpec) -> bool:
    """Return whether a git directory with this marker was set aside for the session of ``spec``."""
    return marker is not None and marker.session == f"{spec.session}{ASIDE}"


def release(git_dir: Path) -> None:
    """Make a worktree that was set aside an ordinary one of the user, because it was found again.

    Removed from the git directory ``git_dir`` are git's lock, and the marker: the file that names
    the worktree's session.
    """
    for name in ("locked", MARKER):
        (git_dir / name).unlink(missing_ok=True)


def last_head(git_dir: Path, spec: WorktreeSpec) -> str | None:
    """Return the id of the session's last commit, from the reflog of the worktree's HEAD.

    ``git_dir`` is the worktree's git directory. None if the worktree is not on the session's
    branch, or has no reflog. The branch itself may be gone.
    """
    try:
        if (git_dir / "HEAD").read_text().strip() != f"ref: refs/heads/{spec.branch}":
            return None
    except (OSError, ValueError):
        return None
    return last_commit_in(git_dir)
