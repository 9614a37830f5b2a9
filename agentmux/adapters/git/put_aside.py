"""Finds stashes that users made by following our hints, and returns hints to restore them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from agentmux.adapters.git.program import GitProgram, decode_output


def stash_hints(git: GitProgram, top: Path, aside: str, branch: str = "") -> Iterator[str]:
    """Yield hints how to restore the stashes that the user made by following one of our hints.

    Each hint is a sentence with a git command. There are two per stash: how to restore it, then how
    to see it. The oldest stash comes first. Nothing is restored here.

    Args:
        git: Runs git in the repository.
        top: The top of the work tree in which the stash is to be restored.
        aside: The stash message in our hint; stashes with other messages are left out.
        branch: Only stashes made on this branch; empty for stashes made anywhere.
    """
    listed = git.must_read("list stashes", "stash", "list", "--format=%gd %gs").out
    for line in decode_output(listed).splitlines()[::-1]:
        stash, _, message = line.partition(" ")
        made_on = message.removeprefix("On ").removesuffix(f": {aside}")
        if message == f"On {made_on}: {aside}" and branch in {"", made_on}:
            place = shlex.quote(str(top))
            back = f"git -C {place} stash pop --index {stash}"
            look = f"git -C {place} stash show -p --include-untracked {stash}"
            yield f"put back what was put aside on {made_on}: {back}"
            yield f"where git refuses, see it: {look}"
