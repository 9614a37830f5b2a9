"""Measure what a worktree adds to the time of a start, in a repository of 5 000 files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.pipelines import NS
from benchmarks.repositories import filled
from benchmarks.rows import Row, milliseconds, p50
from benchmarks.sandbox import Sandbox, side_by_side, wait_until

_FILES: Final = 5000
_LIMIT: Final = 2.0
_BRANCH: Final = "agentmux/run"
_PATH: Final = "../calc-worktrees/run"
"""Where the start makes its worktree, from the project's root."""


def start_in_worktree(*, quick: bool) -> Iterator[Row]:
    """Measure a start in the checkout, a start in a worktree, and ``git worktree add``, in turns.

    The start's worktree is made of the same commit as git's, on a new branch, too.
    """
    with Sandbox({"default": {"silent": True}}) as sandbox:
        filled(sandbox.project, _FILES)
        plain, apart, bare = side_by_side(
            5 if quick else 15,
            lambda: _started(sandbox, "--no-worktree"),
            lambda: _started_apart(sandbox),
            lambda: _added(sandbox),
        )
    more = p50(apart) - p50(plain)
    note = f"{more * 1000:.0f} ms against {p50(bare) * 1000:.0f} ms, {_FILES} files"
    yield Row(
        name="a start in a worktree, more than in the checkout, against `git worktree add`",
        value=more / p50(bare),
        unit="x",
        limit=_LIMIT,
        note=note,
    )
    yield milliseconds(f"start to first prompt, in the checkout of {_FILES} files", plain)
    yield milliseconds(f"start to first prompt, in a worktree of {_FILES} files", apart)


def _started(sandbox: Sandbox, option: str) -> float:
    """Start a session; return the seconds to its first prompt; end it and forget it."""
    sandbox.trace_file.unlink(missing_ok=True)
    begun_s = time.time()
    session = sandbox.start("add a greeting", "--name", "run", option)
    wait_until(sandbox.prompted, "the first prompt")
    taken: float = sandbox.trace()[0]["at"] / NS - begun_s
    sandbox.kill_server()
    shutil.rmtree(session)
    return taken


def _started_apart(sandbox: Sandbox) -> float:
    taken = _started(sandbox, "--worktree")
    _take_away(sandbox)
    return taken


def _added(sandbox: Sandbox) -> float:
    taken = sandbox.time(("git", "worktree", "add", "--quiet", "-b", _BRANCH, _PATH, "HEAD"))
    _take_away(sandbox)
    return taken


def _take_away(sandbox: Sandbox) -> None:
    sandbox.run("git", "worktree", "remove", "--force", "--force", _PATH)
    sandbox.run("git", "branch", "-q", "-D", _BRANCH)
