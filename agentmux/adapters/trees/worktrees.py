"""Creates, finds, moves and removes the worktrees of sessions.

A worktree belongs to a session by three marks: the reason of its lock (the session's uuid), the
file ``agentmux-session`` in its git directory (the last step of creating it), and the entry
``branch.<name>.agentmux-session`` in the repository's configuration.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.removal import delete_tree
from agentmux.adapters.git.inherited_lock import inherited_lock
from agentmux.adapters.git.lost_work.hidden_changes import hidden_changes
from agentmux.adapters.git.lost_work.nested_repositories import repositories_with_work
from agentmux.adapters.git.lost_work.submodules import (
    absent_modules_with_work,
    correct_listed_top,
    modules_with_work,
    superproject,
)
from agentmux.adapters.git.program import (
    LOG,
    GitProgram,
    GitReply,
    decode_output,
    join_paths,
    split,
    to_git_error,
    to_refused_error,
)
from agentmux.adapters.git.put_aside import link_again
from agentmux.adapters.git.repository import Git
from agentmux.adapters.git.work_tree import (
    GITDIR,
    MARKER,
    WorktreeMarker,
    branch_at,
    is_branch_gone,
    linked_git_dir,
    marker_of,
    work_tree,
)
from agentmux.adapters.system.polling import pause
from agentmux.adapters.trees.absent_folder import (
    HeldWork,
    held_work,
    is_set_aside,
    last_head,
    own_commits,
    release,
    saved_files,
    set_aside,
)
from agentmux.adapters.trees.half_made import (
    compare_aside,
    list_half_made_changes,
    list_logged_commits,
    set_folder_aside,
)
from agentmux.adapters.trees.restoration import (
    restored_tree,
    why_not_restored,
    write_restored,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.workplace import branch_gone_words
from agentmux.core.names import layout
from agentmux.core.names.words.counts import abbreviate_names, format_count
from agentmux.errors import AgentmuxError, BlockedError
from agentmux.ports.git.repository import GitError
from agentmux.ports.git.worktrees import (
    BaseCommit,
    FolderGoneError,
    WorktreeLoss,
    WorktreeRootFacts,
    WorktreeSpec,
    WorktreeTakenError,
)

_KEY: Final = "agentmux-session"
_REMOVING: Final = ".agentmux-removing-"
_MAKING: Final = "worktree.lock"
_CONFIG_WAIT_S: Final = 10.0
_RACE_WAIT_S: Final = 10.0
_RACED: Final = "/commondir"
_POLL_S: Final = 0.05


class LinkedWorktrees:
    """Manages the worktrees of sessions in the repository of one project.

    Implements `Worktrees`.
    """

    def __init__(self, git: GitProgram) -> None:
        """Use ``git``, which runs in the project; this starts nothing."""
        self._git = git

    # --- before one is made ------------------------------------------------------------------

    def base(self, ref: str | None) -> BaseCommit | None:
        name = ref or "HEAD"
        if name.startswith("-"):
            return None
        commit_id = self._git.commit(name)
        if commit_id is None:
            return None
        branch = self._git.read("rev-parse", "-q", "--verify", "--symbolic-full-name", name).text
        modules = self._git.read("cat-file", "-e", f"{commit_id}:.gitmodules")
        return BaseCommit(
            commit=commit_id,
            branch=branch.removeprefix("refs/heads/") if branch.startswith("refs/heads/") else None,
            has_submodules=modules.status == 0,
        )

    def root_facts(self, root: str | None) -> WorktreeRootFacts:
        tops = self._tops()
        common = self._common()
        place = _root(root, common, tops[0])
        around = superproject(self._git)
        places = (*tops, common, *((around,) if around is not None else ()))
        inside = next((each for each in places if _is_within(place, each)), None)
        gone = (Path(each).name for each in tops if each.parent == place)
        return WorktreeRootFacts(
            root=place,
            inside=inside,
            is_writable=os.access(_existing(place), os.W_OK | os.X_OK),
            names=frozenset((*_list_names(place), *gone)),
            branches=frozenset((*self._branches(), *self._owners())),
            version=self._git.version(),
        )

    def _tops(self) -> list[Path]:
        """Return the top of each worktree, the main one first.

        For a bare repository, the first is the repository's own path.
        """
        lines = self._worktree_list()
        tops = [Path(each.removeprefix("worktree ")) for each in lines if each[:9] == "worktree "]
        return [correct_listed_top(self._git, tops[0]), *tops[1:]]

    def _worktree_list(self) -> list[str]:
        """Return the lines of ``git worktree list``."""
        words = ("worktree", "list", "--porcelain")
        reply = _patient(lambda: self._git.read(*words))
        if reply.status != 0:
            raise to_git_error("list the worktrees", reply)
        return decode_output(reply.out).splitlines()

    def _common(self) -> Path:
        """Return the repository's git directory, which all its worktrees share."""
        return Path(os.path.realpath(self._git.common_dir()))

    def _branches(self) -> list[str]:
        reply = self._git.must_read(
            "list the branches", "for-each-ref", "--format=%(refname)", "refs/heads/"
        )
        return [each.removeprefix("refs/heads/") for each in decode_output(reply.out).splitlines()]

    def _owners(self) -> dict[str, str]:
        """Return the uuid of the session that owns each branch, by the branch's short name."""
        reply = self._git.read("config", "-z", "--get-regexp", rf"^branch\..*\.{_KEY}$")
        pairs = (each.partition("\n") for each in decode_output(reply.out).split("\0") if each)
        return {key[len("branch.") : -len(_KEY) - 1]: value for key, _, value in pairs}

    # --- making one --------------------------------------------------------------------------

    def is_made(self, spec: WorktreeSpec) -> bool:
        tree = work_tree(spec.path)
        if tree is None or tree.top != spec.path:
            return False
        marker = marker_of(tree.git_dir)
        return marker is not None and marker.session == spec.session and marker.home == spec.home

    def is_there(self, spec: WorktreeSpec) -> bool:
        """Return whether the session's worktree exists at the path in ``spec``.

        That is so even if a move of the repository or of the session's directory has broken the
        link between worktree and repository, or if the file that marks the worktree as the
        session's names the session's earlier directory.
        """
        return self.is_made(spec) or self._is_marked(spec) or self._find_unlinked(spec) is not None

    def place(self, spec: WorktreeSpec) -> Path:
        if self.is_made(spec) or self._is_marked(spec):
            return spec.path
        for admin in self._own(spec):
            marker = marker_of(admin)
            if marker is None or marker.home == spec.home:
                continue
            beside = _moved_along(spec.path, marker.home, spec.home)
            for each in (spec.path, beside):
                if _has_lost(each, _moved_along(admin, spec.home, marker.home)):
                    return each
            link = _link_of(admin)
            if _links_to(link, admin):
                return link.parent
        return spec.path

    def make(self, spec: WorktreeSpec, *, again: bool) -> tuple[str, ...]:
        if self.is_made(spec):
            self._lock(spec)
            return ()
        busy = f"another process is making the worktree {spec.path}"
        with inherited_lock(spec.home / _MAKING, busy) as held:
            warnings: tuple[str, ...] = ()
            unlinked = self._find_unlinked(spec)
            if unlinked is not None:
                _link_again(spec.path, unlinked)
            elif not self._is_marked(spec):
                error = self.obstacle(spec, again=again)
                if error is not None:
                    raise error
                self._require_writable(spec)
                self._claim(spec)
                with restored_tree(self._git, spec if again else None) as saved:
                    warnings = self._add(spec, held)
                    warnings += write_restored(self._program(spec), saved)
                _make_inner(spec)
                warnings += self._copy(spec, spec.home / layout.COPIED)
                warnings += compare_aside(spec)
            self._mark(spec)
            return warnings

    def _is_marked(self, spec: WorktreeSpec) -> bool:
        """Whether the worktree is complete; its session's directory may have been moved.

        A worktree of another clone does not count: a copied session still names the original's
        worktree.
        """
        marker = _marker_at(spec.path)
        return marker is not None and marker.session == spec.session and self._is_here(spec)

    def _find_unlinked(self, spec: WorktreeSpec) -> Path | None:
        """Return the git directory of a worktree that still refers to the repository's old path.

        None if the worktree is linked correctly, or is not the session's.
        """
        for admin in self._own(spec):
            marker = marker_of(admin)
            if marker is not None and _has_lost(
                spec.path, _moved_along(admin, spec.home, marker.home)
            ):
                return admin
        return None

    def obstacle(self, spec: WorktreeSpec, *, again: bool) -> BlockedError | None:
        if self.is_there(spec):
            return self._lost_branch(spec)
        taken = self._detect_move(spec) or self._detect_occupant(spec)
        back = f"put it back in its place, then: agentmux resume {shlex.quote(spec.home.name)}"
        error = (
            taken
            or self._detect_lock(spec, back)
            or self._held_back(spec)
            or self._on_its_branch(spec, again=again)
        )
        return error or (why_not_restored(self._git, spec) if again else None)

    def _detect_move(self, spec: WorktreeSpec) -> WorktreeTakenError | None:
        for admin in self._own(spec):
            link = _link_of(admin)
            if marker_of(admin) is None or not _links_to(link, admin):
                continue
            words = shlex.join((str(link.parent), str(spec.path)))
            moved = f"the worktree of this session was moved to {link.parent}"
            if not os.path.lexists(spec.path):
                back = f"move it back: git worktree move -f -f {words}"
                return WorktreeTakenError(moved, hints=(back,))
            # If a folder is there, git would move the worktree into it.
            there, back = (
                _make_taken_error(spec).hints,
                f"then move it back: git worktree move -f -f {words}",
            )
            hints = there if _marker_at(spec.path) is not None else (*there, back)
            return WorktreeTakenError(f"{moved}, and something else is at its place", hints=hints)
        return None

    def _held_back(self, spec: WorktreeSpec) -> BlockedError | None:
        """Return an error if git has work for the missing folder that the checkpoint lacks."""
        if spec.leaves_folder:
            return None
        for work in map(partial(held_work, self._git, spec=spec), self._absent(spec)):
            words = _held_words(work, self._is_only_at(work.head, spec))
            if words:
                return FolderGoneError(
                    f"the worktree {spec.path} is not there, and git keeps for it what is nowhere"
                    f" else: {words}",
                    hints=_ways_back(spec, work.git_dir),
                )
        return None

    def _is_only_at(self, head: str | None, spec: WorktreeSpec) -> bool:
        """Whether ``head`` is a commit that no branch or tag contains; False for None."""
        return head is not None and self._is_only(head, replace(spec, branch=""), None)

    def _detect_occupant(self, spec: WorktreeSpec) -> WorktreeTakenError | None:
        if not os.path.lexists(spec.path) or (spec.path.is_dir() and not any(spec.path.iterdir())):
            return None
        return None if self._has_begun(spec) else _make_taken_error(spec)

    def _has_begun(self, spec: WorktreeSpec) -> bool:
        """Whether the folder at the worktree's path is the session's, complete or half made."""
        begun = (_link_of(each) for each in self._own(spec) if _links_to(_link_of(each), each))
        return any(link.parent == spec.path for link in begun)

    def _on_its_branch(self, spec: WorktreeSpec, *, again: bool) -> BlockedError | None:
        """Return an error if the branch belongs to someone else, or no longer exists."""
        name = spec.branch
        if not name:
            return None
        exists = name in self._branches()
        owner = self._owners().get(name, "")
        ours = again or spec.is_continued
        if owner not in {"", spec.session} or (exists and not owner and not ours):
            return WorktreeTakenError(f"branch `{name}` exists already, and is not this session's")
        if ours and not exists:
            message, hint = branch_gone_words(name, self._end(spec))
            return BlockedError(message, reason="branch_gone", hints=(hint,))
        return None

    def _lost_branch(self, spec: WorktreeSpec) -> BlockedError | None:
        """Return an error if HEAD of the worktree is on the session's branch, and that is gone."""
        is_gone = branch_at(spec.path) == spec.branch and is_branch_gone(spec.path, spec.branch)
        return self._on_its_branch(spec, again=True) if is_gone else None

    def _end(self, spec: WorktreeSpec) -> str:
        """Return the last known commit of a branch that is gone."""
        saved = spec.checkpoint
        last = (last_head(each, spec) for each in self._own(spec))
        for each in (*last, saved.head if saved is not None else None):
            if each is not None and self._git.commit(each) is not None:
                return each
        return spec.commit

    def _clear(
        self, spec: WorktreeSpec, take_away: Callable[[WorktreeSpec], object] | None = None
    ) -> None:
        """Remove what a killed `make`, or a manual deletion, has left of this worktree.

        ``take_away`` frees the path of a folder that is only half made; None deletes the folder.

        Raises:
            WorktreeTakenError: The worktree is complete, and was moved to another path.
        """
        error = self._detect_move(spec)
        if error is not None:
            raise error
        for admin in self._own(spec):
            link = _link_of(admin)
            if link.parent == spec.path and _links_to(link, admin):
                take_away(spec) if take_away is not None else delete_tree(spec.path)
            delete_tree(admin)

    def _own(self, spec: WorktreeSpec) -> list[Path]:
        """Return the git directories of the worktrees that belong to the session."""
        return [each for each in self._git_dirs() if _is_of(each, spec)]

    def _git_dirs(self) -> list[Path]:
        """Return the git directories of all linked worktrees."""
        return sorted((self._common() / "worktrees").glob("*"))

    def _absent(self, spec: WorktreeSpec) -> list[Path]:
        """Return the git directories of a worktree that was complete and whose folder is missing.

        A removal that was killed, or failed, may have begun to delete the folder.
        """
        if self._is_of_session(spec):
            return []
        own = [each for each in self._own(spec) if marker_of(each) is not None]
        return [each for each in own if not _links_to(_link_of(each), each)]

    def _set_aside(self, spec: WorktreeSpec) -> list[Path]:
        """Return the git directories that were set aside for earlier folders of the worktree."""
        return [each for each in self._git_dirs() if is_set_aside(marker_of(each), spec)]

    def list_kept(self, spec: WorktreeSpec) -> tuple[Path, ...]:
        lost = (each for each in self._set_aside(spec) if not _links_to(_link_of(each), each))
        return (*self._absent(spec), *lost)

    def reserve(self, spec: WorktreeSpec) -> None:
        if spec.branch and self._owners().get(spec.branch, "") != spec.session:
            self._configure(f"branch.{spec.branch}.{_KEY}", spec.session)

    def find_branch(self, session: str) -> str | None:
        return next((name for name, owner in self._owners().items() if owner == session), None)

    def adopt(self, spec: WorktreeSpec, tip: str) -> None:
        name = spec.branch
        if not name:
            return
        commit_id, owner = self._git.commit(f"refs/heads/{name}"), self._owners().get(name, "")
        ours = owner == spec.session or (spec.is_continued and not owner)
        if commit_id is not None and (commit_id != tip or not ours):
            raise WorktreeTakenError(
                f"branch `{name}` exists already, at another commit than the session's",
                hints=(
                    "import it with a branch of its own: --copy",
                    f"or rename yours: git branch -m {shlex.quote(name)} OTHER",
                ),
            )
        self.reserve(spec)
        if commit_id is None:
            self._make_branch(spec, tip)

    def _claim(self, spec: WorktreeSpec) -> None:
        """Create the branch; first record its owner, so that a repeated call recognises it."""
        self.reserve(spec)
        if spec.branch and spec.branch not in self._branches():
            self._make_branch(spec, spec.commit)

    def _make_branch(self, spec: WorktreeSpec, tip: str) -> None:
        reply = self._git.run(
            *("update-ref", "-m", f"agentmux: {spec.home.name}"),
            *(f"refs/heads/{spec.branch}", tip, ""),
        )
        if reply.status != 0:
            raise to_refused_error(f"git could not create branch `{spec.branch}`", reply)

    def _configure(self, *words: str) -> None:
        """Change the repository's configuration; wait while another git is changing it."""
        run = partial(self._git.run, "config", "--local", *words, extra={"LC_ALL": "C"})
        reply = _patient(run, "could not lock config file", _CONFIG_WAIT_S)
        if reply.status != 0:
            raise to_git_error("write its configuration", reply)

    def _add(self, spec: WorktreeSpec, held: int) -> tuple[str, ...]:
        words = ("worktree", "add", "--quiet", "--lock", "--reason", spec.session)

        shown = ("--detach", str(spec.path), spec.commit)
        place = (str(spec.path), spec.branch) if spec.branch else shown

        warnings: list[str] = []

        def add() -> GitReply:
            for each in self._absent(spec):
                set_aside(self._git, each, spec)
            warnings.extend(self._keep_half_made(spec))
            self._clear(spec, set_folder_aside)
            return self._git.run(*words, *place, keep_open=(held,))

        reply = _patient(add)
        tree = work_tree(spec.path)
        whole = tree is not None and tree.top == spec.path and (tree.git_dir / "index").exists()
        if not whole:
            raise to_refused_error(f"git could not make the worktree {spec.path}", reply)
        if reply.status != 0:  # the hook `post-checkout` failed, after everything was written
            text = reply.err.strip() or reply.status
            warnings.append(f"the worktree was made, but git said: {text}")
        return tuple(warnings)

    def _keep_half_made(self, spec: WorktreeSpec) -> Iterator[str]:
        """Set a half-made worktree aside if somebody committed or staged something there.

        Yield warnings with the commands that keep the commits.
        """
        for admin in self._own(spec):
            link, staged = _link_of(admin), False
            if link.parent != spec.path or not _links_to(link, admin):
                continue
            lone = self._list_lone(admin, spec)
            with suppress(GitError):  # it may be too incomplete
                staged = bool(held_work(self._git, admin, spec).staged)
            if lone or staged:
                set_folder_aside(spec)
                set_aside(self._git, admin, spec)
            for each in lone:
                name, commit = f"kept-{each[:12]}", each[:12]
                yield f"keep what was left on no branch: git branch {name} {commit}"

    def _list_lone(self, admin: Path, spec: WorktreeSpec) -> list[str]:
        """Return the commits in the log of a worktree's HEAD that no branch or tag contains."""
        logged = list_logged_commits(self._git, admin)
        return [each for each in logged if self._is_only_at(each, spec)]

    def copy(self, spec: WorktreeSpec, patterns: str) -> tuple[str, ...]:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="agentmux-") as file:
            file.write(patterns)
            file.flush()
            return self._copy(spec, Path(file.name))

    def _copy(self, spec: WorktreeSpec, patterns: Path) -> tuple[str, ...]:
        """Copy the ignored files that match the patterns in the file ``patterns``.

        Return warnings.
        """
        source = self._git.top_level()
        if source is None or not patterns.is_file():  # a bare repository has no files to copy
            return ()
        listed = self._git.must_read(
            "list the files to copy",
            *("ls-files", "-z", "--others", "--ignored", f"--exclude-from={patterns}"),
        )
        # A path that ends in a slash is a nested repository.
        paths = [path for path in split(listed.out) if not path.endswith("/")]
        theirs = self._program(spec)
        # `git check-ignore` fails for a path that leads through a link.
        plain = [path for path in paths if not _leads_through_link(spec.path, path)]
        safe = _select_ignored(self._git, plain) & _select_ignored(theirs, plain)
        # A checkpoint may have put a file there, or an earlier copy.
        there = {path for path in plain if os.path.lexists(spec.path / path)}
        copied = {p for p in paths if p in safe - there and _copy_file(source, spec.path, p)}
        left = [path for path in paths if path not in copied | there and not layout.is_ours(path)]
        return tuple(
            f"{path} was not copied into the worktree: it is not a file that git ignores there"
            for path in left
        )

    def _lock(self, spec: WorktreeSpec) -> None:
        """Lock the worktree if it is unlocked, so that git keeps it while its disk is away.

        Raises:
            DataError: Git cannot write there, so the session could not work.
        """
        tree = work_tree(spec.path)
        if tree is not None:
            files.require_writable(tree.git_dir, tree.git_dir / "HEAD")
        if tree is not None and not (tree.git_dir / "locked").exists():
            words = ("worktree", "lock", "--reason", spec.session, str(spec.path))
            self._git.run(*words)  # a failure does no harm

    def _mark(self, spec: WorktreeSpec) -> None:
        tree = work_tree(spec.path)
        if tree is None or tree.top != spec.path:
            raise GitError(f"the worktree {spec.path} is gone")
        text = f"{spec.home}\n{spec.session}\n"
        with files.explain_errors(tree.git_dir / MARKER):
            files.replace(tree.git_dir / MARKER, text.encode("utf-8", "surrogateescape"))

    # --- taking one away ---------------------------------------------------------------------

    def undo_make(self, spec: WorktreeSpec) -> None:
        with suppress(AgentmuxError, OSError):
            tree = work_tree(spec.path)
            if tree is not None and self._is_marked(spec):
                (tree.git_dir / MARKER).unlink()
            self._clear(spec)
            self._let_go(spec, lambda _: spec.commit)

    def removal_loss(
        self,
        spec: WorktreeSpec,
        base: str | None,
        *,
        merged: str | None = None,
        delivered: str | None = None,
    ) -> WorktreeLoss:
        self._require_linked(spec)
        moved = None if self._is_of_session(spec) else self._detect_move(spec)
        refusal = self._detect_lock(spec) or self._detect_link(spec) or moved
        if refusal is not None:
            raise refusal
        tip = self._git.commit(f"refs/heads/{spec.branch}") if spec.branch else None
        nothing: tuple[str, ...] = ()
        changed = hidden = besides = behind = nothing
        heads, is_there = [tip], self._is_marked(spec)
        doing = None
        if is_there:
            inside = self._inside(spec)
            changed, besides, head = (
                self._list_changes(spec),
                inside.ignored_and_internal(),
                inside.head(),
            )
            hidden = hidden_changes(self._git.at(spec.path))
            heads += [head.commit] if head.commit != tip else []
            doing = head.in_progress
            behind = (*self._left_behind(spec, base), *own_commits(self._git, spec.path))
        elif self._has_begun(spec):
            changed, behind = (
                list_half_made_changes(self._git, spec, tip, self._common()),
                tuple(each for at in self._own(spec) for each in self._list_lone(at, spec)),
            )
        held = [held_work(self._git, each, spec) for each in self.list_kept(spec)]
        away = (commit for each in held for commit in (each.head, *each.own) if commit is not None)
        behind = tuple(dict.fromkeys(each for each in (*behind, *away) if each != tip))
        heads += behind
        onto = self._git.commit(f"refs/heads/{base}") if base is not None else None
        kept = tip if spec.is_continued else None  # the branch existed before, and stays
        heads = [each for each in heads if each not in {None, kept, merged}]
        lost = [each for each in heads if each is not None and self._is_only(each, spec, onto)]
        beside = any(
            each != tip and each not in behind and not self._has(tip, each) for each in lost
        )
        known = (spec.commit, onto)
        commits = self._subjects([each for each in lost if each == tip], known)
        return WorktreeLoss(
            changed=changed,
            hidden=hidden,
            commits=commits,
            commits_off_branch=self._subjects(
                [each for each in lost if each != tip], (*known, tip)
            ),
            dropped=self._subjects([spec.commit], (onto,)) if commits and onto and not kept else (),
            tip=tip,
            is_beside=beside,
            is_there=is_there,
            branch=spec.branch if tip is not None and self._drops_branch(spec) else "",
            besides=tuple(each for each in besides if each not in changed),
            tips_off_branch=tuple(each for each in behind if each in lost),
            modules=self._list_absent_modules(spec) if is_there else (),
            kept=tuple(each.git_dir for each in held),
            staged=tuple(sorted({name for each in held for name in each.staged})),
            saved=self._list_saved(spec, (*heads, delivered, merged, onto)),
            operation=doing or next((each.operation for each in held if each.operation), ""),
        )

    def _subjects(self, commits: list[str], known: Iterable[str | None]) -> tuple[str, ...]:
        """Return hash and subject of the commits up to ``commits`` that are not in ``known``.

        Oldest first.
        """
        if not commits:
            return ()
        others = [f"^{each}" for each in known if each is not None]
        reply = self._git.must_read("list the commits", *LOG, *commits, *others)
        return tuple(decode_output(reply.out).splitlines())

    def _left_behind(self, spec: WorktreeSpec, base: str | None) -> tuple[str, ...]:
        """Return the last commits of the lines of work that the worktree's HEAD has left.

        If the session's branch was deleted, the last commit that it had is one of them.
        """
        onto = () if base is None else (f"refs/heads/{base}",)
        mine = (f"refs/heads/{spec.branch}",) if spec.branch else ()
        known = (spec.commit, *onto, *mine)
        ends = self._inside(spec).left_commits(since=spec.commit, known=known)
        lost = (self._end(spec),) if self._lost_branch(spec) is not None else ()
        return (*lost, *(each.commit for each in ends))

    def _list_saved(self, spec: WorktreeSpec, others: Sequence[str | None]) -> tuple[str, ...]:
        """Return the files that only the last checkpoint has.

        Empty if the worktree's folder exists. After a removal that was killed, or failed, they
        count again: its user may have gone on with the session since.
        """
        if self._is_of_session(spec):
            return ()
        return saved_files(self._git, spec, others)

    def _is_of_session(self, spec: WorktreeSpec) -> bool:
        """Whether the session's worktree is at its path.

        For a copied session, the original's counts.
        """
        marker = _marker_at(spec.path)
        return marker is not None and marker.session == spec.session

    def _drops_branch(self, spec: WorktreeSpec) -> bool:
        """Whether `remove` would delete the session's branch, provided that it exists."""
        if spec.is_continued or self._owners().get(spec.branch) != spec.session:
            return False
        return self.checkout_of(spec.branch) in {None, spec.path}

    def _has(self, tip: str | None, commit: str) -> bool:
        """Whether the history of ``tip`` contains a commit; False if ``tip`` is None."""
        words = ("merge-base", "--is-ancestor", commit, tip or "")
        return tip is not None and self._git.read(*words).status == 0

    def _program(self, spec: WorktreeSpec) -> GitProgram:
        return GitProgram(spec.path, self._git.environment, self._git.patience)

    def _inside(self, spec: WorktreeSpec) -> Git:
        return Git(spec.path, self._git.environment, self._git.patience)

    def _require_linked(self, spec: WorktreeSpec) -> None:
        """Check that git can read the worktree, if there is one.

        Raises:
            BlockedError: The repository was moved, and the worktree was not linked to it again.
        """
        if self._find_unlinked(spec) is not None:
            raise BlockedError(
                f"the repository was moved, and the worktree {spec.path} is not linked to it yet",
                reason="worktree_unlinked",
                hints=(f"link it: git worktree repair {shlex.quote(str(spec.path))}",),
            )

    def _detect_lock(self, spec: WorktreeSpec, *ways: str) -> BlockedError | None:
        """Return an error if the user has locked the worktree; a lock of ours names the session.

        ``ways`` are hints that come before the one to unlock it.
        """
        for admin in self._own(spec):
            lock = admin / "locked"
            reason = _read(lock).strip()
            # While git makes a worktree, it has a lock of git's own.
            if marker_of(admin) is None or not lock.exists() or reason == spec.session:
                continue
            place = _link_of(admin).parent
            unlock = f"if it may go, unlock it: git worktree unlock {shlex.quote(str(place))}"
            why = f" ({' '.join(reason.split())})" if reason else ""
            return BlockedError(
                f"the worktree {place} is locked{why}, and not by agentmux",
                reason="worktree_locked",
                hints=(*ways, unlock),
            )
        return None

    def _detect_link(self, spec: WorktreeSpec) -> BlockedError | None:
        """Return an error if the user has moved the worktree, and left a link in its place."""
        if not spec.path.is_symlink() or not self._is_marked(spec):
            return None
        place, target = shlex.quote(str(spec.path)), os.path.realpath(spec.path)
        return BlockedError(
            f"the worktree {spec.path} is a link to {target}",
            reason="worktree_linked",
            hints=(f"move it back: rm {place} && mv {shlex.quote(target)} {place}",),
        )

    def _list_changes(self, spec: WorktreeSpec) -> tuple[str, ...]:
        """Return the uncommitted paths, including submodules and nested repositories with work."""
        tree = work_tree(spec.path)
        there = self._git.at(spec.path)
        modules = modules_with_work(there, tree.git_dir) if tree is not None else ()
        nested = repositories_with_work(there, tree) if tree is not None else ()
        inside = self._inside(spec)
        paths = (*inside.changes(), *inside.list_internal_changes())
        listed = (each for each in paths if f"{each}/" not in (*modules, *nested))
        return tuple(dict.fromkeys((*listed, *hidden_changes(there), *modules, *nested)))

    def _list_absent_modules(self, spec: WorktreeSpec) -> tuple[Path, ...]:
        tree = work_tree(spec.path)
        return tuple(absent_modules_with_work(self._git, tree.git_dir)) if tree is not None else ()

    def _is_only(self, commit: str, spec: WorktreeSpec, onto: str | None) -> bool:
        """Whether the commit's changes exist nowhere else: not merged, pushed or squashed."""
        if commit == spec.commit:
            return False
        reply = self._git.must_read(
            "look for the commit",
            *("for-each-ref", "--contains", commit, "--format=%(refname)"),
            *("refs/heads", "refs/remotes", "refs/tags"),
        )
        if set(decode_output(reply.out).splitlines()) - {f"refs/heads/{spec.branch}"}:
            return False
        if onto is None:
            return True
        return bool(self._differing(spec.commit, commit) & self._differing(commit, onto))

    def _differing(self, old: str, new: str) -> set[str]:
        words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only")
        return set(split(self._git.must_read("compare commits", *words, old, new).out))

    def remove(self, spec: WorktreeSpec, tip: str | None) -> None:
        self._require_linked(spec)
        self._require_writable(spec)
        # Renamed first, so that a killed removal does not leave half of a worktree at its path.
        trash = _trash(spec)
        with files.explain_errors(spec.path):
            if trash.is_symlink():  # an earlier version has renamed a link to a worktree
                trash.unlink()
            if trash.is_dir():
                delete_tree(trash)
            if self._is_marked(spec):
                spec.path.rename(trash)
            self._clear(spec)
            for each in self._set_aside(spec):
                if _links_to(_link_of(each), each):
                    release(each)
                else:
                    delete_tree(each)
            if trash.is_dir():
                delete_tree(trash)
        with suppress(OSError):  # the folder is not empty, or does not exist
            spec.path.parent.rmdir()
        self._let_go(spec, lambda name: None if self.checkout_of(name) is not None else tip)

    def _require_writable(self, spec: WorktreeSpec) -> None:
        """Check that git's files about the worktree can be changed, before anything is."""
        for each in (self._common(), *self._own(spec)):
            files.require_writable(each, each / "HEAD")

    def _is_here(self, spec: WorktreeSpec) -> bool:
        """Whether the worktree belongs to this repository."""
        tree = work_tree(spec.path)
        folder = self._common() / "worktrees"
        return tree is not None and os.path.realpath(tree.git_dir.parent) == str(folder)

    def _let_go(self, spec: WorktreeSpec, tip_of: Callable[[str], str | None]) -> None:
        """Delete the session's branch if it is at the tip from ``tip_of``, else only our entry.

        A branch that existed before the session is never deleted.
        """
        name = spec.branch
        if not name or self._owners().get(name) != spec.session:
            return
        if spec.is_continued:
            self._configure("--unset", f"branch.{name}.{_KEY}")
        elif (tip := tip_of(name)) is None:
            self._configure("--remove-section", f"branch.{name}")
        else:
            self._drop_branch(name, tip)

    def checkout_of(self, branch: str) -> Path | None:
        top = None
        for line in self._worktree_list():
            key, _, value = line.partition(" ")
            top = Path(value) if key == "worktree" else top
            if line == f"branch refs/heads/{branch}" and top is not None:
                return correct_listed_top(self._git, top)
        return None

    def _drop_branch(self, name: str, commit: str) -> None:
        """Delete the session's branch, which must be at ``commit``, and its configuration entry."""
        reply = self._git.run("update-ref", "-d", f"refs/heads/{name}", commit)
        if reply.status == 0 or name not in self._branches():
            self._configure("--remove-section", f"branch.{name}")
        elif self._git.commit(f"refs/heads/{name}") == commit:  # a hook refused
            raise to_refused_error(f"git could not delete branch `{name}`", reply)


def _patient(
    run: Callable[[], GitReply], meets: str = _RACED, wait_s: float = _RACE_WAIT_S
) -> GitReply:
    """Run a git command; repeat it while its error contains ``meets``, up to ``wait_s`` seconds.

    By default this waits for another git that is creating a worktree: meanwhile, git fails with
    "failed to read …/commondir" although nothing is wrong.
    """
    deadline = time.monotonic() + wait_s
    while True:
        reply = run()
        raced = reply.status != 0 and meets in reply.err
        if not raced or time.monotonic() > deadline:
            return reply
        pause(_POLL_S)  # no event says when the other git is ready


def _select_ignored(git: GitProgram, paths: list[str]) -> set[str]:
    """Return the paths that git ignores, without those in ``.agentmux``; they need not exist."""
    reply = git.read("check-ignore", "-z", "--stdin", stdin=join_paths(paths))
    if reply.status not in {0, 1}:
        raise to_git_error("tell what it ignores", reply)
    return {path for path in split(reply.out) if not layout.is_ours(path)}


def _leads_through_link(top: Path, path: str) -> bool:
    parent = (top / path).parent
    return os.path.realpath(parent) != str(parent)


def _copy_file(source: Path, target: Path, path: str) -> bool:
    """Copy one regular file with its mode; return False if the source cannot be read as one."""
    place = target / path
    try:
        given = os.open(source / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(given, "rb") as file:
        facts = os.fstat(given)
        if not stat.S_ISREG(facts.st_mode):
            return False
        with files.explain_errors(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            with _new_file(place) as new_file:
                os.fchmod(new_file.fileno(), stat.S_IMODE(facts.st_mode))
                shutil.copyfileobj(file, new_file)
    return True


@contextmanager
def _new_file(place: Path) -> Iterator[IO[bytes]]:
    """Open a new file for writing. It gets its name at the end, so a kill leaves no partial file.

    On a system without unnamed files, the file has its name from the beginning.
    """
    try:
        unnamed = os.open(place.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except (AttributeError, OSError):
        with place.open("xb") as file:
            yield file
        return
    with os.fdopen(unnamed, "wb") as file:
        yield file
        file.flush()
        # With a descriptor of a directory, `os.link` follows the link in /proc.
        os.link(f"/proc/self/fd/{unnamed}", place, src_dir_fd=unnamed)


def _make_inner(spec: WorktreeSpec) -> None:
    """Create the project's directory in the worktree if the base commit does not have it."""
    inner = spec.path / spec.inner
    if not _is_within(Path(os.path.realpath(inner)), spec.path):
        raise GitError(f"{inner} leads out of the worktree")
    with files.explain_errors(inner):
        inner.mkdir(parents=True, exist_ok=True)


def _root(root: str | None, common: Path, main: Path) -> Path:
    """Return the directory for worktrees; ``main`` is the top of the main worktree.

    ``root`` is the setting ``git.root``; None for the default beside the repository.
    """
    top = main if main != common else common.with_name(common.name.removesuffix(".git").lstrip("."))
    if root is None:
        return Path(os.path.realpath(top.with_name(f"{top.name}-worktrees")))
    return Path(os.path.realpath(top / root))


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.is_dir())


def _list_names(folder: Path) -> list[str]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return [each.name for each in folder.iterdir()]
    return []


def _is_within(path: Path, folder: Path) -> bool:
    return path.is_relative_to(Path(os.path.realpath(folder)))


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_bytes().decode("utf-8", "surrogateescape")
    return ""


def _marker_at(path: Path) -> WorktreeMarker | None:
    """Return the marker of the worktree whose top is ``path``; None if there is none."""
    tree = work_tree(path)
    return marker_of(tree.git_dir) if tree is not None and tree.top == path else None


def _make_taken_error(spec: WorktreeSpec) -> WorktreeTakenError:
    """Return an error that says what is at the worktree's path."""
    marker, named = _marker_at(spec.path), linked_git_dir(spec.path / ".git")
    if marker is not None and marker.session == spec.session:
        return WorktreeTakenError(
            f"the worktree {spec.path} is that of the session in {marker.home}, and this one is a"
            " copy of it",
            hints=(f"go on with that one: agentmux resume {shlex.quote(str(marker.home))}",),
        )
    away = files.move_away_hint(spec.path)
    if is_set_aside(marker, spec):
        there = shlex.quote(files.old_name(spec.path))
        return WorktreeTakenError(
            f"an earlier folder of this session's worktree is at {spec.path} again",
            hints=(f"{away} && git worktree repair {there}",),
        )
    if marker is not None:
        return WorktreeTakenError(
            f"the worktree of another session is at {spec.path}",
            hints=(f"see that one: agentmux status {shlex.quote(str(marker.home))}",),
        )
    place = f"{spec.path}, the place of this session's worktree"
    if named is None or os.path.lexists(named / "HEAD"):
        linked = link_again(spec.path, files.old_name(spec.path))
        return WorktreeTakenError(f"something else is at {place}", hints=(away + linked,))
    repair = f"git worktree repair {shlex.quote(str(spec.path))}"
    return WorktreeTakenError(
        f"a worktree of a repository that is gone ({named}) is at {place}",
        hints=(f"if it is this session's, link it to this repository: {repair}", f"else {away}"),
    )


def _trash(spec: WorktreeSpec) -> Path:
    """Return the temporary path of the worktree during its removal."""
    return spec.path.with_name(f"{_REMOVING}{spec.session}")


def _held_words(found: HeldWork, is_only: bool) -> str:
    """Describe the work in the git directory of a missing folder; empty if there is none."""
    commit = (found.head or "")[:12]
    staged = format_count(len(found.staged), "staged file")
    parts = (
        f"{staged} ({abbreviate_names(found.staged)})" if found.staged else "",
        f"commit {commit}, which is on no branch" if is_only else "",
        f"a {found.operation} under way" if found.operation else "",
    )
    return ", and ".join(filter(None, parts))


def _ways_back(spec: WorktreeSpec, git_dir: Path) -> tuple[str, ...]:
    saved = spec.checkpoint
    of = f"work-tree checkpoint {saved.number}" if saved is not None else spec.label
    name = shlex.quote(spec.home.name)
    stays = f"  # what git keeps for the old folder stays, in {git_dir}"
    return (
        "if you have moved it, tell git where it is: git worktree repair NEW_PATH",
        f"else make it again from {of}: agentmux resume --make-again {name}{stays}",
    )


def _moved_along(path: Path, old: Path, new: Path) -> Path:
    """Return the path that ``path`` has if it was moved together with the directory ``old``."""
    return Path(os.path.normpath(new / os.path.relpath(path, old)))


def _has_lost(top: Path, git_dir: Path) -> bool:
    """Whether the worktree at ``top`` refers to ``git_dir`` and that directory no longer exists."""
    named = linked_git_dir(top / ".git")
    return (
        named is not None
        and os.path.normpath(named) == str(git_dir)
        and not os.path.lexists(git_dir / "HEAD")
    )


def _link_again(top: Path, admin: Path) -> None:
    """Link a worktree and its git directory to each other.

    ``git worktree repair`` writes the same two files, but also those of every other registered
    worktree; in a copied repository, those are the worktrees of the original.
    """
    for path, text in ((admin / "gitdir", f"{top}/.git"), (top / ".git", f"{GITDIR}{admin}")):
        mode = stat.S_IMODE(path.stat().st_mode)
        files.replace(path, f"{text}\n".encode("utf-8", "surrogateescape"), mode)


def _is_of(admin: Path, spec: WorktreeSpec) -> bool:
    """Whether the git directory of a worktree belongs to the session."""
    marker = marker_of(admin)
    marked = marker is not None and marker.session == spec.session
    return marked or _read(admin / "locked").strip() == spec.session


def _link_of(admin: Path) -> Path:
    """Return the path of the ``.git`` file that the git directory ``admin`` belongs to."""
    text = _read(admin / "gitdir").rstrip("\n")
    return Path(os.path.normpath(admin / text)) if text else Path(os.devnull)


def _links_to(link: Path, admin: Path) -> bool:
    """Whether the ``.git`` file ``link`` refers to the git directory ``admin``."""
    tree = work_tree(link.parent)
    if tree is None or tree.top != link.parent:
        # Git may have been killed before the directory was a repository.
        named = linked_git_dir(link)
        return named is not None and os.path.realpath(named) == str(admin)
    return os.path.realpath(tree.git_dir) == str(admin)
