"""The steps of the fleet demo: submit a backlog, run two workers, kill one, decide on the results.

The decisions are made from a third home, that of the demo's user.
"""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.disk.session import session_folders
from agentmux.core.names import layout
from agentmux.demo.claims import Claim
from agentmux.demo.commands import DemoCommands, DemoError
from agentmux.demo.fleet.follower import FleetFollower, FollowedFeature
from agentmux.demo.fleet.proof import LOG_FORMAT, claims, read_commits
from agentmux.demo.fleet.scene import (
    CHANGE,
    CHANGED,
    FEATURES,
    HOSTS,
    URL,
    database,
    make_scene,
    repository,
    url_file,
)
from agentmux.demo.home import Scene, git, run_tests
from agentmux.demo.screen import DemoScreen
from agentmux.demo.stage import perform
from agentmux.errors import ExitCode

_EACH_S: Final = 60.0
"""The most seconds that a worker may take for one step. On an idle machine it takes three."""
_ALL_S: Final = 180.0
"""The most seconds that all features together may take. An idle machine needs less than 30."""


def run(*, keep: bool) -> ExitCode:
    """Run the fleet demo without a person, and print what happens; return its exit code.

    The exit code is OK if every check of the demo passed, else FAILED.

    Args:
        keep: Whether to leave the demo's folder and processes at the end.

    Raises:
        AgentmuxError: The demo could not be finished or cleaned up.
    """
    return perform(make_scene, lambda scene, screen: FleetPlay(scene, screen).run(), keep=keep)


class DemoWorker:
    """A worker of the fleet on one of the demo's hosts; its process starts with the object.

    Attributes:
        name: The host's name.
    """

    def __init__(self, name: str, commands: DemoCommands, screen: DemoScreen) -> None:
        """Start the worker.

        Args:
            name: The host's name.
            commands: Runs commands in the host's home.
            screen: Prints the worker's output.
        """
        self.name = name
        self._screen = screen
        self._process = commands.start("fleet", "worker", "--name", name)
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        errors = self._process.stderr
        for line in errors or ():
            self._said.put(line)
        self._said.put("")

    def wait_until_ready(self) -> None:
        """Wait until the worker reports that it runs, and print its output.

        Raises:
            DemoError: The worker ended, or did not report in time.
        """
        deadline = time.monotonic() + _EACH_S
        line = "starting"
        while line and " runs with " not in line:
            try:
                line = self._said.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = ""
            self._screen.lines(line)
        if not line:
            raise DemoError(f"the worker {self.name} does not run")

    def kill(self) -> None:
        """Kill the process of the worker, as a crash would; its sessions keep running."""
        self._screen.head(f"$ kill -KILL {self._process.pid}   # worker {self.name}, at work")
        self._process.kill()
        self._process.wait()

    def wait(self) -> None:
        """Wait until the worker has ended by itself, and print the rest of its output.

        Raises:
            DemoError: The worker did not end in time, or ended with an error.
        """
        try:
            code = self._process.wait(_EACH_S)
        except subprocess.TimeoutExpired:
            raise DemoError(f"the worker {self.name} does not end") from None
        while line := self._said.get(timeout=_EACH_S):
            self._screen.lines(line)
        if code:
            raise DemoError(f"the worker {self.name} ended with {code}")


class FleetPlay:
    """Runs the steps of the fleet demo. Each step waits for an event, never for a fixed time."""

    def __init__(self, scene: Scene, screen: DemoScreen) -> None:
        self._scene, self._screen = scene, screen
        me, *hosts = scene.homes
        self._me = DemoCommands(me, scene.project, screen, prompt="me")
        self._hosts = {
            name: DemoCommands(home, scene.root, screen, prompt=name)
            for name, home in zip(HOSTS, hosts, strict=True)
        }
        self._follower = FleetFollower(self._me, database(scene.root), self._tell)

    def run(self) -> bool:
        """Run all steps and print the checks; return whether every check passed."""
        scene, screen = self._scene, self._screen
        screen.line(f"two hosts and a person, each with a home of its own in {scene.root}")
        for commands in (self._me, *self._hosts.values()):
            commands.run("fleet", "init", "--url-file", str(url_file(scene.root)), shown=False)
        screen.head("me$ cat backlog.yaml")
        screen.lines((scene.project / "backlog.yaml").read_text("utf-8"))
        self._me.run("fleet", "submit", "--from", "backlog.yaml", "--repo", URL)
        workers = {name: self._work(name) for name in HOSTS}
        at_work = self._kill_in_the_middle(workers[HOSTS[0]])
        workers[HOSTS[0]] = self._work(HOSTS[0])
        self._decide()
        for name in workers:
            self._me.run("fleet", "drain", name)
        for worker in workers.values():
            worker.wait()
        self._me.run("fleet", "list")
        return self._prove(at_work)

    # -- its parts ---------------------------------------------------------------------------

    def _work(self, name: str) -> DemoWorker:
        worker = DemoWorker(name, self._hosts[name], self._screen)
        worker.wait_until_ready()
        return worker

    def _kill_in_the_middle(self, worker: DemoWorker) -> tuple[str, ...]:
        """Kill the worker while agents work on its host.

        Returns:
            The keys of the features that the agents were working on.
        """

        def at_work() -> tuple[str, ...]:
            return tuple(
                key
                for key, each in self._follower.features.items()
                if each.host == worker.name and each.status == "running" and each.phase
            )

        self._screen.head("what happens")
        what = f"an agent at work on host {worker.name}"
        self._follower.wait_for(lambda: bool(at_work()), what, deadline_s=_EACH_S)
        keys = at_work()
        worker.kill()
        self._screen.lines(f"its sessions go on without it: {', '.join(keys)}")
        return keys

    def _decide(self) -> None:
        """Make a decision each time a feature asks for one, until every feature is done."""
        self._screen.head("what happens, and what is decided")
        deadline = time.monotonic() + _ALL_S
        changes, shown = True, True
        while not self._all_done():
            self._follower.wait_for(
                lambda: bool(self._asking()) or self._all_done(),
                "all features done",
                deadline_s=deadline - time.monotonic(),
            )
            for key in self._asking():
                if changes and key == CHANGED:
                    changes = False
                    self._me.run("fleet", "request-changes", key, CHANGE)
                else:
                    self._me.run("fleet", "approve", key, "--yes", shown=shown)
                    shown = False

    def _all_done(self) -> bool:
        return all(each.status == "done" for each in self._follower.features.values())

    def _asking(self) -> tuple[str, ...]:
        """Return the keys of the features that ask for a decision."""
        return tuple(key for key, each in self._follower.features.items() if each.decision)

    def _tell(self, feature: FollowedFeature) -> None:
        at = self._screen.since_began(time.time())
        where = f"on {feature.host}" if feature.host else ""
        self._screen.lines(f"{at}  {feature.key:<8} {where:<7} {feature.status_text}")

    # -- the proof ---------------------------------------------------------------------------

    def _prove(self, at_work: Sequence[str]) -> bool:
        shared, mine, screen = repository(self._scene.root), self._scene.environment, self._screen
        screen.head("$ git log --all --graph --oneline   # in the shared repository")
        screen.lines(git(shared, mine, "log", "--all", "--graph", "--oneline"))
        log = git(shared, mine, "log", "--all", f"--format={LOG_FORMAT}")
        commits = read_commits(log)
        proofs = claims(tuple(FEATURES.values()), commits, self._branches(), self._sessions())
        screen.head("nothing was lost, and nothing was done twice")
        done = {each.subject for each in commits}
        lost = [key for key in at_work if FEATURES[key] not in done]
        killed = Claim(
            holds=bool(at_work) and not lost,
            text=f"worker {HOSTS[0]} was killed with {', '.join(at_work)} at work; "
            + (f"lost: {', '.join(lost)}" if lost else "none of that was lost"),
        )
        return screen.claims((*proofs, killed, *self._together()))

    def _branches(self) -> dict[str, str]:
        """Return the id of the newest commit of each branch of the shared repository."""
        shared, mine = repository(self._scene.root), self._scene.environment
        words = ("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
        lines = git(shared, mine, *words).splitlines()
        return {name: tip for name, _, tip in (line.partition(" ") for line in lines)}

    def _sessions(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the sessions in each host's clones, by the host's name."""
        homes = dict(zip(HOSTS, self._scene.homes[1:], strict=True))
        return {
            name: [
                each
                for clone in _clones(home.folder / "state")
                for each in session_folders.names(clone / layout.SESSIONS_DIR)
            ]
            for name, home in homes.items()
        }

    def _together(self) -> Iterator[Claim]:
        """Merge all branches in the clone of the demo's user, and check that the tests pass."""
        project, mine = self._scene.project, self._scene.environment
        git(project, mine, "fetch", "-q")
        branches = [f"origin/{name}" for name in self._branches() if name != "main"]
        git(project, mine, "merge", "-q", "--no-edit", *branches)
        passed, counted = run_tests(self._scene)
        yield Claim(holds=passed, text=f"merged, the project's tests pass: {counted}")
        mended = "test_even" in (project / f"tests/test_{CHANGED}.py").read_text("utf-8")
        text = (
            f"the change that was requested of {CHANGED} is {'' if mended else 'NOT '}in its commit"
        )
        yield Claim(holds=mended, text=text)


def _clones(state: Path) -> list[Path]:
    folder = state / "agentmux" / "fleet" / "clones"
    return sorted(folder.iterdir()) if folder.is_dir() else []
