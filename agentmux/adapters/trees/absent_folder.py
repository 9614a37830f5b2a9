"""What git keeps for a worktree whose folder is not at its place: deleted, moved or not mounted.

The index, HEAD, and the state of a rebase or a merge are in the git directory of the worktree, and
that is in the repository. Nobody can tell whether the folder was deleted or is elsewhere. If it is
elsewhere, it names that directory, and is no work tree without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import (
    GitProgram,
    decode_output,
    split,
    to_git_error,
    to_refused_error,
)
from agentmux.adapters.git.repository import in_progress
from agentmux.adapters.git.work_tree import MARKER, marker_of
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.ports.git.worktrees import WorktreeSpec

_ASIDE: Final = " set aside"
_ELSEWHERE: Final = " (moved or deleted)"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWork:
    """The work that one git directory of a worktree has.

    Attributes:
        git_dir: That directory.
        head: The commit that is checked out; None before the first one.
        own: As from `own_commits`.
        staged: The files whose content only the index has, and submodules with commits that none
            of their remotes has, which end in ``/``.
        operation: What is under way, such as ``rebase``; empty for nothing.
    """

    git_dir: Path
    head: str | None
    own: tuple[str, ...]
    staged: tuple[str, ...]
    operation: str


def held_work(git: GitProgram, git_dir: Path, spec: WorktreeSpec) -> HeldWork:
    """Return what ``git_dir`` has of the worktree ``spec``.

    A staged file counts if neither HEAD nor the last checkpoint, nor the commits on which both
    began, have it so.
    """
    saved = spec.checkpoint
    known = ("HEAD", spec.commit, *((saved.head, saved.commit) if saved is not None else ()))
    return HeldWork(
        git_dir=git_dir,
        head=git.commit("HEAD", cwd=git_dir),
        own=own_commits(git, git_dir),
        staged=(
            *_list_staged(git, git_dir, known, session_objects.reading(spec.home)),
            *_modules(git, git_dir),
        ),
        operation=in_progress(git_dir) or "",
    )


def own_commits(git: GitProgram, place: Path) -> tuple[str, ...]:
    """Return the commits of the refs that a worktree has for itself, as of a bisection.

    ``place`` is its top, or its git directory.
    """
    words = ("for-each-ref", "--format=%(refname)", "refs/worktree", "refs/bisect")
    reply = git.read(*words, cwd=place)
    if reply.status != 0:
        raise to_git_error(f"list the refs of {place}", reply)
    commits = (git.commit(name, cwd=place) for name in decode_output(reply.out).splitlines())
    return tuple(each for each in commits if each is not None)


def staged_for(git: GitProgram, place: str) -> tuple[str, ...]:
    """Return the files that are staged in the worktree which git looks for at ``place``."""
    common = git.must_read("find the repository", "rev-parse", "--git-common-dir")
    folder = git.root() / decode_output(common.out).removesuffix("\n") / "worktrees"
    for link in folder.glob("*/gitdir"):
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
    if not path_sets:  # HEAD has no commit, and the others are gone
        raise to_git_error(f"read the index in {git_dir}", replies[0])
    return _of_the_user(set.intersection(*path_sets))


def saved_files(
    git: GitProgram, spec: WorktreeSpec, others: Sequence[str | None]
) -> tuple[str, ...]:
    """Return the files that the last checkpoint has, and neither its HEAD nor ``others`` have so.

    A commit in ``others`` that is gone does not count. Nothing is returned if there is no
    checkpoint, or its objects are gone.
    """
    saved = spec.checkpoint
    if saved is None or saved.head is None:
        return ()
    extra = session_objects.reading(spec.home)
    words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", saved.commit)
    left: set[str] | None = None
    for each in (saved.head, *others):
        reply = git.read(*words, each, extra=extra) if each is not None else None
        if reply is not None and reply.status == 0:
            left = set(split(reply.out)) if left is None else left & set(split(reply.out))
        elif left is None:
            return ()
    return _of_the_user(left or ())


def _of_the_user(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if not layout.is_ours(path)))


def _modules(git: GitProgram, git_dir: Path) -> Iterator[str]:
    """Yield the submodules of the worktree that have commits which none of their remotes has."""
    modules = git_dir / "modules"
    words = ("rev-list", "-1", "HEAD", "--branches", "--not", "--remotes", "--tags")
    for head in sorted(modules.rglob("HEAD")):
        if (head.parent / "objects").is_dir():
            # The work tree that its configuration names is not there.
            reply = git.read("--git-dir=.", "--work-tree=.", *words, cwd=head.parent)
            if reply.out or reply.status != 0:
                yield f"{head.parent.relative_to(modules)}/"


def set_aside(git: GitProgram, git_dir: Path, spec: WorktreeSpec) -> None:
    """Keep a git directory for a folder that may be elsewhere, and free its place and its branch.

    The folder, wherever it is, stays a work tree; a HEAD on the session's branch is detached, as
    git has a branch in one worktree at a time. It may be called any number of times.

    Raises:
        GitRefusedError: A hook is against it.
    """
    on = git.read("symbolic-ref", "-q", "HEAD", cwd=git_dir)
    head = git.commit("HEAD", cwd=git_dir)
    if head is not None and on.text == f"refs/heads/{spec.branch}":
        words = ("update-ref", "--no-deref", "-m", f"agentmux: {spec.home.name}", "HEAD", head)
        reply = git.run(*words, extra={"GIT_DIR": str(git_dir)})
        if reply.status != 0:
            raise to_refused_error(f"git could not detach the HEAD in {git_dir}", reply)
    place = spec.path.with_name(f"{git_dir.name}{_ELSEWHERE}")
    # The marker comes last: until then it is known as the session's, and set aside again.
    for name, text in (
        ("gitdir", f"{place}/.git"),
        ("locked", f"{spec.session}{_ASIDE}"),
        (MARKER, f"{spec.home}\n{spec.session}{_ASIDE}"),
    ):
        files.replace(git_dir / name, f"{text}\n".encode("utf-8", "surrogateescape"))


def is_set_aside(git_dir: Path, spec: WorktreeSpec) -> bool:
    """Whether a git directory was set aside for an earlier folder of the worktree ``spec``."""
    marker = marker_of(git_dir)
    return marker is not None and marker.session == f"{spec.session}{_ASIDE}"


def release(git_dir: Path) -> None:
    """Make a worktree that was set aside, and is found again, an ordinary one of the user's."""
    for name in ("locked", MARKER):
        (git_dir / name).unlink(missing_ok=True)


def last_head(git_dir: Path, spec: WorktreeSpec) -> str | None:
    """Return the commit that the session's branch had last, if it is checked out and gone."""
    try:
        if (git_dir / "HEAD").read_text().strip() != f"ref: refs/heads/{spec.branch}":
            return None
        *_, last = (git_dir / "logs" / "HEAD").read_text(errors="replace").splitlines()
    except (OSError, ValueError):
        return None
    return last.split(" ")[1]
