"""What changes while the watch is set up is told, too."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.app.world import Site
from agentmux.core.names.phase import Phase
from agentmux.overriding import override
from agentmux.web.pages.reading import ProjectSessions
from agentmux.web.session_watch import LIST, SessionWatch
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import OnDisk

FIRST, SECOND = "20260101-101500-add-login", "20260101-101501-add-logout"


class Sudden(ProjectSessions):
    """Sessions that change right after they were looked at, before anything is watched."""

    project: Path
    looks = 0

    @override
    def sites(self) -> Iterator[Site]:
        yield from super().sites()
        self.looks += 1
        if self.looks == 1:
            OnDisk(sessions_dir(self.project) / SECOND, Phase.PLANNING)
            (sessions_dir(self.project) / FIRST / "changed").touch()


def test_what_changes_before_the_watch_is_there_is_told(tmp_path: Path) -> None:
    project = make_project(tmp_path / "shop")
    OnDisk(sessions_dir(project) / FIRST, Phase.PLANNING)
    site = partial(build.site, config=None, environ={"HOME": str(tmp_path)})
    sessions = Sudden(lambda: (project,), site, partial(build.world, environ={}))
    sessions.project = project
    told: set[str] = set()

    async def listen() -> None:
        watch = SessionWatch(sessions, lambda: (), told.update)
        try:
            async with asyncio.timeout(60):
                while not ({LIST, FIRST} <= told and sessions.looks > 1):  # the new one is watched
                    await asyncio.sleep(0.02)
        finally:
            watch.close()

    asyncio.run(listen())
