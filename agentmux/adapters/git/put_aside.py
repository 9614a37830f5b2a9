"""Stashes that our hints have users make, and how what is in them comes back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from agentmux.adapters.git.program import GitProgram, decode_output


def ways_to_put_back(git: GitProgram, top: Path, aside: str, branch: str = "") -> Iterator[str]:
    """Yield hints for each stash that was made as one of our hints says; oldest first.

    Args:
        git: Runs in the repository.
        top: The work tree in which it is put back.
        aside: The message of such a stash.
        branch: The branch on which it was made; empty for any, or for none.
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
