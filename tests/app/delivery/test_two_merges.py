"""Two results that are approved at once are both merged into their one base, with real git."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agentmux.core.journal.events import StepFailed
from agentmux.errors import ExitCode
from agentmux.ports.git.merging import Merging
from tests.app.driver import Studio, git, make_project


class Meeting:
    """A repository's merging in which two sessions take each step at the same time."""

    def __init__(self, real: Merging, together: threading.Barrier) -> None:
        self._real = real
        self._together = together

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._real, name)

        def call(*arguments: object, **options: object) -> object:
            with suppress(threading.BrokenBarrierError):  # the other one has ended
                self._together.wait(5)
            return method(*arguments, **options)

        return call


def session(project: Path, together: threading.Barrier) -> Studio:
    studio = Studio(
        project, dict(os.environ), cycles=1, real_git=True, worktree=True, checkpoints=False,
        short=True,
    )  # fmt: skip
    studio.then = "merge"
    studio.start()
    real = studio.world.git.merging

    def merging(environ: Mapping[str, str]) -> Merging:
        return cast("Merging", Meeting(real(environ), together))

    studio.world = replace(studio.world, git=replace(studio.world.git, merging=merging))
    return studio


@pytest.mark.long
@pytest.mark.parametrize("checked_out", [True, False])
def test_two_approvals_at_once(tmp_path: Path, checked_out: bool) -> None:
    project = make_project(tmp_path / "ground" / "project")
    together = threading.Barrier(2)
    both = [session(project, together), session(project, together)]
    if not checked_out:
        git(project, "checkout", "-q", "-b", "mine")
    (project / "mine.txt").write_text("not committed\n")

    async def drive(each: Studio) -> ExitCode:
        try:
            return await asyncio.wait_for(each._drive("start"), 20)
        finally:
            together.abort()

    async def drive_both() -> list[ExitCode]:
        return await asyncio.gather(*map(drive, both))

    assert asyncio.run(drive_both()) == [ExitCode.OK, ExitCode.OK]
    for each in both:
        assert not [e for e, _ in each.events() if isinstance(e.fact, StepFailed)]
        commit = each.state().commit
        assert commit is not None
        git(project, "merge-base", "--is-ancestor", commit.commit or "", "main")
    assert git(project, "status", "--porcelain") == "?? mine.txt\n"
    assert (project / "mine.txt").read_text() == "not committed\n"
