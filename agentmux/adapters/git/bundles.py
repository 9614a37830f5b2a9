"""Git bundles with the commits that a session has and no remote has.

A bundle needs refs. They are created in a temporary repository that borrows the objects of the
user's, so that no ref appears in the user's repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import GitProgram, GitReply, decode_output, to_git_error
from agentmux.adapters.git.session_objects import PRIVATE, QUIET, must_run
from agentmux.adapters.system.processes.child import start
from agentmux.errors import DataError, MissingError

_EMPTY: Final = "Refusing to create empty bundle"
_LACKS: Final = re.compile(r"^error: ([0-9a-f]{40,64}) ?", re.MULTILINE)
_NAMED: Final = 3
_ALONE: Final = (
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "protocol.allow=always"),
)
"""Settings for fetching from a bundle: git starts no maintenance of its own."""


class GitBundles:
    """Creates and reads git bundles, files with commits, in the repository of one project.

    Implements `ports.session.moving.Bundles`.
    """

    def __init__(self, git: GitProgram) -> None:
        """Use ``git``, which runs in the project; this starts nothing."""
        self._git = git

    @contextmanager
    def make_bundle(self, home: Path, refs: Mapping[str, str]) -> Iterator[Path | None]:
        with session_objects.scratch(home) as scratch:
            place, extra = self._borrowing(home, scratch, refs)
            target = scratch / "bundle"
            words = ("--glob=refs/agentmux", "--not", "--remotes")
            bundle_reply = self._git.run(
                *(*QUIET, place, "bundle", "create", "--quiet", str(target), *words),
                extra={**extra, "LC_ALL": "C"},
            )
            if bundle_reply.status != 0 and _EMPTY in bundle_reply.err:
                yield None
                return
            if bundle_reply.status != 0:
                raise to_git_error("bundle the commits", bundle_reply)
            for check in (("verify", "--quiet"), ("unbundle",)):  # the second reads every object
                reply = self._git.run(*QUIET, place, "bundle", *check, str(target), extra=extra)
                if reply.status != 0:
                    raise to_git_error("verify the bundle", reply)
            yield target

    def _borrowing(
        self, home: Path, scratch: Path, refs: Mapping[str, str]
    ) -> tuple[str, dict[str, str]]:
        """Create a bare repository without objects, with ``refs`` and all remote-tracking refs.

        Returns:
            The option ``--git-dir=…`` that selects it, and the variables with which git finds the
            objects of the session and of the user's repository.
        """
        form = self._git.must_read("find its objects", "rev-parse", "--show-object-format")
        repository = scratch / "repository"
        words = ("init", "--quiet", "--bare", "--template=")
        must_run(
            *(self._git, "make a repository", *words),
            *(f"--object-format={form.text}", str(repository)),
        )
        remotes = self._git.must_read(
            "list the branches", "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes"
        )
        own = "".join(f"{commit} {name}\n" for name, commit in refs.items())
        (repository / "packed-refs").write_bytes(own.encode() + remotes.out)
        path = decode_output(
            self._git.must_read("find its files", "rev-parse", "--git-path", "shallow").out
        )
        shallow = self._git.root() / path.removesuffix("\n")
        if shallow.is_file():
            (repository / "shallow").write_bytes(shallow.read_bytes())
        mine = session_objects.places(self._git).objects
        return f"--git-dir={repository}", session_objects.variables_to_read(home, mine)

    def has(self, home: Path, commit: str) -> bool:
        extra = session_objects.variables_to_read(home)
        words = ("cat-file", "-e", f"{commit}^{{commit}}")
        return self._git.run(*QUIET, *words, extra=extra).status == 0

    def unpack(self, home: Path, bundle: Path, refs: frozenset[str]) -> None:
        listed = self._git.run(*QUIET, "bundle", "list-heads", str(bundle))
        names = [line.partition(" ")[2] for line in decode_output(listed.out).splitlines()]
        if listed.status != 0 or not names or not refs.issuperset(names):
            raise DataError("the bundle in the file is damaged")
        store = session_objects.make_objects_folder(home)
        extra = session_objects.variables_to_write(store, session_objects.places(self._git).objects)
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
        reply = self._git.run(
            *(*QUIET, *PRIVATE, *_ALONE, *words, "--no-recurse-submodules", str(bundle), *names),
            extra={**extra, "LC_ALL": "C"},
        )
        if reply.status != 0:
            raise self._to_error(reply)
        self._check(home, store)

    def _check(self, home: Path, store: Path) -> None:
        """Have git check every object in ``store`` with ``index-pack --strict``.

        Git does not do that when it reads a bundle, whatever is configured.

        Raises:
            DataError: An object is damaged.
            MissingError: A commit on which the session builds is missing here.
        """
        with session_objects.scratch(home) as scratch:
            for number, pack in enumerate(sorted(store.glob("pack/*.pack"))):
                words = ("index-pack", "--strict", "-o", str(scratch / f"{number}.idx"), str(pack))
                reply = self._git.run(*QUIET, *words, extra=session_objects.variables_to_read(home))
                if reply.status != 0:
                    raise self._to_error(reply)

    def _to_error(self, reply: GitReply) -> DataError | MissingError:
        lacking = _LACKS.findall(reply.err) if "prerequisite commit" in reply.err else []
        if not lacking:
            rows = reply.err.strip().splitlines()
            return DataError(f"git cannot unpack the bundle in the file: {rows[0] if rows else ''}")
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        named = ", ".join(each[:12] for each in lacking[:_NAMED])
        return MissingError(
            f"this repository lacks commits on which the session builds: {named}{more}",
            hints=("get them, then import again: git fetch --all",),
        )

    def share_history(self, home: Path, commit: str) -> bool:
        if self._git.commit("HEAD") is None:
            return True
        extra = session_objects.variables_to_read(home)
        return self._git.run(*QUIET, "merge-base", "HEAD", commit, extra=extra).status == 0

    def bring(self, home: Path, commit: str) -> None:
        if self._git.read("cat-file", "-e", f"{commit}^{{commit}}").status == 0:
            return
        known = self._git.must_read("list the branches", "for-each-ref", "--format=%(objectname)")
        wanted = f"{commit}\n" + "".join(f"^{each}\n" for each in known.text.split())
        words = ("pack-objects", "--quiet", "--revs", "--stdout")
        packed = must_run(
            self._git, "pack the commits", *words, stdin=wanted.encode(),
            extra=session_objects.variables_to_read(home),
        )  # fmt: skip
        must_run(self._git, "unpack the commits", "unpack-objects", "-q", stdin=packed)

    def diff(self, home: Path, since: str, until: str, limit: int) -> str:
        words = ("diff-tree", "-r", "-p", "--stat", "--no-ext-diff", "--no-textconv", "--no-color")
        reply = self._git.run(
            *(*QUIET, *words, since, until),
            extra=session_objects.variables_to_read(home),
            out=start(limit + 1),
        )
        if reply.status != 0:
            raise to_git_error("compare the commits", reply)
        cut = "\n[…]\n" if len(reply.out) > limit else ""
        return reply.out[:limit].decode("utf-8", "replace") + cut
