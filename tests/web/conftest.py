"""A server of the page in this process, or in one of its own, over real sessions."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from agentmux.web import serving
from agentmux.web.guard import PageAddress
from agentmux.web.sign_in import SignIn
from tests.e2e.conftest import Project, make_root
from tests.e2e.conftest import project as project  # noqa: PLC0414 (the fixture, for this folder)

HOST = "agentmux-0123456789.localhost:4321"
ORIGIN = f"http://{HOST}"


class Clock:
    """A clock that tests set forward."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Page:
    """The page of one project, and a browser that looks at it."""

    def __init__(self, project: Project, *, read_only: bool = False) -> None:
        self.project = project
        self.clock = Clock()
        self.sign_in = SignIn(self.clock, serving.new_secret)
        options = serving.ServingOptions(
            host="127.0.0.1",
            port=0,
            name="",
            read_only=read_only,
            behind_proxy=False,
            cert=None,
            key=None,
            project=project.path,
            config=None,
            environ=project.env,
        )
        place = PageAddress(scheme="http", host=HOST, read_only=read_only)
        self.app, self.events, self.screens = serving.build_application(
            options, place, self.sign_in
        )
        self.browser = self.new_browser()

    def new_browser(self, **given: Any) -> TestClient:
        """Return a browser that is not logged in."""
        return TestClient(
            self.app, base_url=ORIGIN, headers={"origin": ORIGIN}, follow_redirects=False, **given
        )

    def login(self) -> "Page":
        """Log the browser in by a new link."""
        link = f"/login/{self.sign_in.link()}"
        assert self.browser.post(link).status_code == 303
        return self

    @property
    def token(self) -> str:
        """The token that the forms of this browser send."""
        visit = self.sign_in.find_login((self.browser.cookies["agentmux"],))
        assert visit is not None
        return visit.token

    def post(self, path: str, browser: TestClient | None = None, **fields: str) -> Any:
        """Send a form as the page does."""
        return (browser or self.browser).post(path, data={"token": self.token, **fields})

    def text(self, path: str) -> str:
        """Return a page that is there."""
        answer = self.browser.get(path)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def close(self) -> None:
        self.screens.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Project]:
    """A project without sessions, for tests that change nothing."""
    made = Project(make_root())
    yield made
    made.close()


@pytest.fixture
def page(project: Project) -> Iterator[Page]:
    """The page of a project of its own, in a browser that is logged in."""
    made = Page(project).login()
    yield made
    made.close()


@pytest.fixture
def lone(shared: Project) -> Page:
    """The page of a project without sessions, in a browser that is not logged in."""
    return Page(shared)


class Server:
    """``agentmux web`` as a process."""

    def __init__(
        self,
        project: Project,
        *words: str,
        program: Sequence[str] = (sys.executable, "-m", "agentmux"),
    ) -> None:
        self.process = subprocess.Popen(
            [*program, "web", *words],
            cwd=project.path,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.errors = ""
        self.link = self.process.stdout.readline().strip()
        if not self.link:
            assert self.process.stderr is not None
            pytest.fail(self.process.stderr.read())
        self.origin = self.link.partition("/login/")[0]
        self.port = int(self.origin.rpartition(":")[2])

    def busy_s(self) -> float:
        """Return the processor time of the server, and of its children that have ended."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat[stat.rindex(")") + 2 :].split()  # proc(5): the name may hold anything
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def end(self, sig: signal.Signals = signal.SIGTERM) -> float:
        """End the process; return how many seconds that took."""
        began = time.monotonic()
        self.process.send_signal(sig)
        _, self.errors = self.process.communicate(timeout=60)
        return time.monotonic() - began


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    made: list[Server] = []

    def begin(project: Project, *words: str, **more: Any) -> Server:
        made.append(Server(project, *words, **more))
        return made[-1]

    yield begin
    for each in made:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


def descriptors(pid: int) -> list[str]:
    """Return what the open descriptors of a process lead to."""
    found = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found.append(str(each.readlink()))
    return found
