"""A fleet whose workers, hosts and database are killed while it works, and its commits in git.

Run it by ``./dev test-fleet --chaos``. Each host has a home, a tmux server and clones of its own;
the database is a PostgreSQL that is started for the run, or a file of SQLite. A person in another
home decides at random, by commands. At the end each feature has to be one commit on a branch, each
session has to have a feature, and no process may be left.

What is chosen at random follows from the seed, but when it happens depends on the machine: the same
seed does not repeat a run exactly.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from agentmux.adapters.system.processes.processes import end, is_alive
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.tables import FEATURES
from tests.conftest import SCRATCH
from tests.fleet.conftest import FleetHost, Worker, init_fleet
from tests.fleet.network import Network, is_possible
from tests.fleet.postgres import PROGRAMS, Postgres
from tests.fleet.worker_server import WorkerServer

REPOSITORY: Final = "https://git.invalid/team/calc.git"
"""What the features name; git takes it from a folder instead, on each host."""
STRICT: Final = {
    "roles": {
        "planner": {"plan": {"parts": 1}},
        "reviewer_logic": {"attempts": [{"when": {"iteration": 0}, "verdict": "fail"}]},
    }
}
"""Agents whose first review fails."""
TICK_S: Final = 0.3
SAY_S: Final = 15.0
RESTART_S: Final = 3.0
"""A worker that ended is started again within this time, as by systemd."""
LEFT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is run.

    Attributes:
        every_s: How often something is killed, on average.
        crashes: How often PostgreSQL crashes.
        hangs: How often it hangs for longer than the lease, and then goes on.
        lease_s: The lease of each host.
        stops: How many workers are stopped for longer than their lease, and then woken.
        cuts: How often all packets of a host or of PostgreSQL are dropped for a while; needs root.
        limit_s: The run has failed if it has not ended by then.
    """

    features: int = 60
    workers: int = 3
    slots: int = 3
    database: str = "postgres"
    crashes: int = 3
    hangs: int = 1
    stops: int = 1
    cuts: int = 0
    every_s: float = 8.0
    lease_s: int = 12
    limit_s: float = 900.0
    seed: int = 1


@dataclass(slots=True)
class Host:
    """A host and its worker, which is started again whenever it has ended."""

    fleet: FleetHost
    worker: Worker | None = None
    starts_at: float = 0.0
    stopped_until: float = 0.0


class Chaos:
    """One run."""

    def __init__(self, options: Options, say: Callable[[str], object] = print) -> None:
        self.options, self.say = options, say
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.took_s = 0.0
        self._random = random.Random(options.seed)
        self._people = WorkerServer()
        self._deciding: dict[int, tuple[str, Path]] = {}
        self._asked: set[str] = set()
        self._changes: set[str] = set()
        self._abandoned = 0
        self._network: Network | None = None
        self._away: tuple[str, float] | None = None
        self._seen: list[sa.Row[Any]] = []
        self._began = time.monotonic()

    # -- the run -------------------------------------------------------------------------------

    def run(self) -> list[str]:
        """Run it; return what was wrong, in words."""
        self._root = Path(tempfile.mkdtemp(prefix="amx-chaos-", dir=SCRATCH))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, self._root, ignore_errors=True)
            if self.options.cuts:
                self._network = stack.enter_context(Network())
            self._server: Postgres | None = None
            if self.options.database == "postgres":
                self._add("db")
                words = ("listen_addresses=0.0.0.0",) if self._network is not None else ()
                with self._at("db"):
                    self._server = Postgres(PROGRAMS, *words)
                stack.callback(self._server.close)
                url = self._server.make("fleet")
            else:
                url = f"sqlite:///{self._root / 'fleet.sqlite'}"
            (self._root / "home").mkdir()
            init_fleet(self._root / "home", url)
            self._engine = engine_for(url)
            stack.callback(self._engine.dispose)
            self._person = self._made(url, "person")
            names = [chr(ord("a") + number) for number in range(self.options.workers)]
            if self._network is not None and self._server is not None:
                url = self._server.url("fleet", self._network.address("db"))
            self._hosts = [Host(self._made(url, name, WorkerServer())) for name in names]
            for name in names:
                self._add(name)
            for each in (self._person, *(host.fleet for host in self._hosts)):
                stack.callback(self._end_all, each)
            stack.callback(self._end_workers)
            self._submit()
            self._until_done()
            self._end()
            self._check()
        return self.problems

    def _add(self, place: str) -> None:
        if self._network is not None:
            self._network.add(place)

    def _at(self, place: str) -> contextlib.AbstractContextManager[None]:
        """Be at a place of the network in the block, if there is one."""
        return contextlib.nullcontext() if self._network is None else self._network.at(place)

    def _made(self, url: str, name: str, server: WorkerServer | None = None) -> FleetHost:
        made = FleetHost(url, name, server=server or self._people)
        origin = self._root / "origin.git"
        if not origin.exists():
            made.project.git("clone", "-q", "--bare", ".", str(origin))
        strict = made.project.root / "strict.json"
        strict.write_text(json.dumps(STRICT))
        agents = {"strict": {"like": "demo", "args": ["--scenario", str(strict)]}}
        made.allow(REPOSITORY, lease_s=self.options.lease_s, agents=agents)
        with (made.project.home / ".gitconfig").open("a") as file:
            file.write(f'[url "{origin}"]\n\tinsteadOf = {REPOSITORY}\n')
        return made

    def _submit(self) -> None:
        chosen = self._random
        lines = []
        for number in range(self.options.features):
            line = {
                "key": f"f{number:03}",
                "feature": f"add greeting {number:03}",
                "repo": REPOSITORY,
                "pipeline": "quick",
                "agent": "strict" if chosen.random() < 0.3 else "demo",
            }
            lines.append(line | ({"then": "push"} if chosen.random() < 0.3 else {}))
            if chosen.random() < 0.1:
                self._changes.add(str(line["key"]))
        self._backlog = self._root / "backlog.yaml"
        self._backlog.write_text(json.dumps(lines))
        self._person.ok("submit", "--from", str(self._backlog))
        agents = Counter(line["agent"] for line in lines)
        pushed = sum("then" in line for line in lines)
        self.say(
            f"submitted {len(lines)}: {agents['strict']} with a failed review, {pushed} to be"
            f" pushed, {len(self._changes)} with changes requested"
        )

    def _until_done(self) -> None:
        options = self.options
        self._kill_at = time.monotonic() + options.every_s
        self._crashes = _marks(options.crashes, options.features)
        self._stops = _marks(options.stops, options.features, offset=0.5)
        self._hangs = _marks(options.hangs, options.features, offset=0.3)
        self._cuts = _marks(options.cuts, options.features, offset=0.7)
        self._up_at = 0.0
        self._bring_back: Callable[[], None] | None = None
        said_at = 0.0
        while True:
            now = time.monotonic()
            done = sum(each.status == FleetStatus.DONE for each in self._seen)
            if self._seen and done == len(self._seen):
                return
            if now - self._began > options.limit_s:
                self.problems.append(f"after {options.limit_s:.0f} s only {done} are done")
                return
            if now - said_at > SAY_S:
                said_at = now
                self._tell(str(dict(Counter(str(each.status) for each in self._seen))))
            self._keep_running(now)
            self._harm(now, done)
            if self._bring_back is None:
                self._look()
                self._decide()
            time.sleep(TICK_S)

    def _tell(self, what: str) -> None:
        self.say(f"{time.monotonic() - self._began:5.0f} s: {what}")

    def _harm(self, now: float, done: int) -> None:
        """Do what is due: kill, crash, stop; start the database again."""
        if self._bring_back is not None and now >= self._up_at:
            self._bring_back()
            self._bring_back = None
        if now >= self._kill_at:
            self._kill_at = now + self._random.expovariate(1 / self.options.every_s)
            self._kill_something()
        if self._server is not None and self._bring_back is None:
            self._take_away(self._server, now, done)
        able = [host for host in self._hosts if host.worker is not None and _runs(host.worker)]
        calm = self._bring_back is None and self._away is None
        if able and calm and _is_due(self._stops, done):
            self._stop_a_worker(self._random.choice(able), now)
        elif calm and not any(host.stopped_until for host in self._hosts):
            self._cut(now, done)
        if self._away is not None and now >= self._away[1]:
            self._mend()

    def _look(self) -> None:
        """Read what the fleet says; the database may just have crashed."""
        wanted = ("id", "key", "status", "host", "session", "question", "reason", "updated_at")
        query = sa.select(*(FEATURES.c[name] for name in wanted)).order_by(FEATURES.c.key)
        with contextlib.suppress(DBAPIError), self._engine.connect() as connection:
            self._seen = [*connection.execute(query)]

    # -- the hosts ---------------------------------------------------------------------------------

    def _keep_running(self, now: float) -> None:
        for host in self._hosts:
            if host.stopped_until and now >= host.stopped_until and self._bring_back is None:
                self._wake(host)
            if host.worker is not None and not is_alive(host.worker.pid):
                code = host.worker.wait()
                if code != -signal.SIGKILL:
                    ran = "ended" if "runs with" in host.worker.said() else "could not begin"
                    self.counts[f"workers that {ran}: {code}"] += 1
                host.worker, host.stopped_until = None, 0.0
                host.starts_at = now + self._random.uniform(0, RESTART_S)
            if host.worker is None and now >= host.starts_at:
                with self._at(host.fleet.name):
                    host.worker = Worker(host.fleet, "--slots", str(self.options.slots))

    def _kill_something(self) -> None:
        host = self._random.choice(self._hosts)
        kind = self._random.choices(
            ("worker", "orchestrator", "tmux server", "host"), weights=(70, 10, 10, 10)
        )[0]
        if host.worker is None or host.stopped_until:
            return
        if kind == "worker":
            os.kill(host.worker.pid, signal.SIGKILL)
        elif kind == "host":
            os.kill(host.worker.pid, signal.SIGKILL)
            self._kill(host.fleet)
        elif not self._kill(host.fleet, b"_orchestrate" if kind == "orchestrator" else b"tmux"):
            return
        self.counts[f"{kind} killed"] += 1
        self._tell(f"killed: {kind} of {host.fleet.name}")

    def _kill(self, host: FleetHost, word: bytes = b"") -> bool:
        """Kill one process of a host with this word in its command line; without one, kill all."""
        found = []
        for pid, _ in host.project.processes():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if not word or word in words or words[0] == word:
                    found.append(pid)
        if word and found:
            found = [self._random.choice(sorted(found))]
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(found)

    def _take_away(self, server: Postgres, now: float, done: int) -> None:
        """Have PostgreSQL crash or hang if that is due, and come back later."""
        lease_s = self.options.lease_s
        if _is_due(self._crashes, done):
            kind = self._random.choice(("killed", "stopped at once"))
            take_away = server.kill if kind == "killed" else server.crash
            away_s = self._random.choice((0.5, 3.0, 1.5 * lease_s))
            self._bring_back = self._start_server
        elif _is_due(self._hangs, done):
            kind, take_away, away_s = "hangs", server.hang, 1.5 * lease_s
            self._bring_back = server.wake
        else:
            return
        take_away()
        self._up_at = now + away_s
        self.counts[f"PostgreSQL {kind}"] += 1
        self._tell(f"PostgreSQL {kind}, for {away_s:.1f} s")

    def _stop_a_worker(self, host: Host, now: float) -> None:
        assert host.worker is not None
        os.kill(host.worker.pid, signal.SIGSTOP)
        host.stopped_until = now + 2 * self.options.lease_s
        self.counts["worker stopped beyond its lease"] += 1
        self._tell(f"stopped: worker of {host.fleet.name}")

    def _wake(self, host: Host) -> None:
        """Wake a stopped worker, after one of its features was given to another host."""
        host.stopped_until = 0.0
        assert host.worker is not None
        self._abandon(host)
        os.kill(host.worker.pid, signal.SIGCONT)
        self._tell(f"woken: worker of {host.fleet.name}")

    def _abandon(self, host: Host) -> None:
        """Give a feature of a host that was not heard for long to another one."""
        identity = host.fleet.place.identity()
        able = [
            each.id
            for each in self._seen
            if each.host == identity and each.session and each.id not in self._asked
            and each.status in {FleetStatus.RUNNING, FleetStatus.WAITING}
        ]  # fmt: skip
        if able and len(self._hosts) > 1:
            done = self._person.run("retry", able[0], "--abandon", "--yes")
            if done.returncode == 0:
                self._abandoned += 1
                self.counts["feature given to another host"] += 1
            self._tell(f"abandon: {done.returncode} {(done.stderr or done.stdout).strip()}")

    # -- the network -------------------------------------------------------------------------------

    def _start_server(self) -> None:
        assert self._server is not None
        with self._at("db"):
            self._server.start()

    def _cut(self, now: float, done: int) -> None:
        """Drop all packets of the database, or of a host, if that is due."""
        if self._network is None or not _is_due(self._cuts, done):
            return
        place = self._random.choice(["db", *(host.fleet.name for host in self._hosts)])
        away_s = self.options.lease_s * self._random.choice((0.3, 1.5, 3.0))
        self._network.cut(place)
        self._away = (place, now + away_s)
        self.counts["database cut off" if place == "db" else "host cut off"] += 1
        self._tell(f"cut off: {place}, for {away_s:.1f} s")

    def _mend(self) -> None:
        """Forward packets again, after a feature of a host that was cut off was given away."""
        assert self._network is not None
        assert self._away is not None
        place, self._away = self._away[0], None
        for host in self._hosts:
            if host.fleet.name == place:
                self._abandon(host)
        self._network.mend(place)
        self._tell(f"reached again: {place}")

    # -- the person --------------------------------------------------------------------------------

    def _decide(self) -> None:
        """Begin a command of a person, or hear its end."""
        for pid, (what, errors) in [*self._deciding.items()]:
            if not is_alive(pid):
                del self._deciding[pid]
                code = self._people.wait(pid)
                self.counts[f"{what}: {code}"] += 1
                if code not in {0, 3, 6}:  # nothing to decide any more; the database is away
                    self.problems.append(f"{what} ended with {code}: {errors.read_text()[-500:]}")
        if len(self._deciding) >= 2 or self._random.random() < 0.3:
            return
        waiting = [each for each in self._seen if each.status == FleetStatus.WAITING]
        asking = [each for each in waiting if each.question and not each.question["obstacle"]]
        failed = [each for each in self._seen if each.status == FleetStatus.FAILED]
        if failed:
            row = self._random.choice(failed)
            self.problems.append(f"{row.key} failed: {row.reason}")
            self._begin("retry", row.id)
        elif asking:
            row = self._random.choice(asking)
            self._asked.add(row.id)
            if row.key in self._changes and row.question["cycle"] == 1:
                self._begin("request-changes", row.id, "say it louder")
            else:
                self._begin("approve", row.id, "--yes")

    def _begin(self, *words: str) -> None:
        project = self._person.project
        errors = project.root / f"person-{time.monotonic_ns()}.err"
        pid = self._people.start(
            ["fleet", *words], cwd=str(project.root), env=project.env, errors=str(errors)
        )
        self._deciding[pid] = (words[0], errors)

    # -- the end -----------------------------------------------------------------------------------

    def _end(self) -> None:
        """Submit everything once more, which submits nothing; end the workers."""
        self.took_s = time.monotonic() - self._began
        if self._bring_back is not None:
            self._bring_back()
        if self._network is not None:
            self._network.mend_all()
        self._person.ok("submit", "--from", str(self._backlog))
        for pid in self._deciding:
            self._people.wait(pid)
        for host in self._hosts:
            if host.worker is not None:
                host.worker.end()

    def _check(self) -> None:
        with self._engine.connect() as connection:
            found = rows.features(connection)
        wanted = {f"add greeting {number:03}" for number in range(self.options.features)}
        if {each.title for each in found} != wanted or len(found) != len(wanted):
            self.problems.append(f"features: {sorted(each.title for each in found)}")
        for each in found:
            if each.status is not FleetStatus.DONE:
                said = f"{each.phase} of {each.session}: {each.reason}"
                self.problems.append(f"{each.key} is {each.status} in {said}")
        commits = Counter(subject for subject in self._commits() if subject != "Begin")
        lost, twice = wanted - commits.keys(), {k: n for k, n in commits.items() if n > 1}
        self.say(f"commits: {commits.total()} of {len(commits)} features")
        if lost or twice or commits.keys() - wanted:
            more = sorted(commits.keys() - wanted)
            self.problems.append(f"lost: {sorted(lost)}, twice: {twice}, others: {more}")
        sessions = sum(len(folders) for folders in map(self._sessions, self._hosts))
        if sessions != len(wanted) + self._abandoned:
            self.problems.append(f"{sessions} sessions")
        for host in self._hosts:
            self._check_ended(host.fleet)

    def _commits(self) -> Iterator[str]:
        """Yield the subject of each commit on a branch, here or in the origin, once."""
        clones = [git for host in self._hosts for git in host.fleet.place.clones.glob("*/.git")]
        known = set()
        for folder in (self._root / "origin.git", *clones):
            format_ = "--format=%H %s"
            said = self._person.project.git_at(folder, "log", "--branches", "--remotes", format_)
            known |= {*said.splitlines()}
        for line in sorted(known):
            yield line.partition(" ")[2]

    def _sessions(self, host: Host) -> list[Path]:
        return [*host.fleet.place.clones.glob("*/.agentmux/.sessions/*/state.json")]

    def _check_ended(self, host: FleetHost) -> None:
        deadline = time.monotonic() + LEFT_S
        while left := host.project.processes():
            if time.monotonic() > deadline:
                words = [
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                    for pid, started in left
                    if is_alive(pid, started)
                ]
                self.problems.append(f"left on {host.name}: {words}")
                return
            time.sleep(TICK_S)

    def _end_workers(self) -> None:
        """Kill what the program has started itself, also if it failed."""
        for host in self._hosts:
            if host.worker is not None and is_alive(host.worker.pid):
                host.worker.kill()

    def _end_all(self, host: FleetHost) -> None:
        host.project.program("tmux", "kill-server")
        end(host.project.processes(), grace_s=0.2)
        if self.problems:
            self.say(f"log of {host.name}: …{host.log()}")
        shutil.rmtree(host.project.root, ignore_errors=True)


def _marks(count: int, features: int, offset: float = 0.0) -> list[float]:
    """Return after how many features each of ``count`` things happens, spread over the run."""
    return [features * (number + 1 - offset) / (count + 1) for number in range(count)]


def _runs(worker: Worker) -> bool:
    return is_alive(worker.pid) and "runs with" in worker.said()


def _is_due(marks: list[float], done: int) -> bool:
    """Return whether the next mark is reached; then it is taken off."""
    due = bool(marks) and done >= marks[0]
    if due:
        marks.pop(0)
    return due


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test-fleet --chaos", description=__doc__)
    usual = Options()
    for name in Options.__slots__:
        value = getattr(usual, name)
        option = f"--{name.removesuffix('_s').replace('_', '-')}"
        choices = ("postgres", "sqlite") if name == "database" else None
        parser.add_argument(
            option, dest=name, type=type(value), default=value, choices=choices,
            help="(default: %(default)s)",
        )  # fmt: skip
    options = Options(**vars(parser.parse_args()))
    if options.cuts and (options.database != "postgres" or not is_possible()):
        print("cuts need PostgreSQL, root and network namespaces", file=sys.stderr)
        return 6
    if options.database == "postgres" and not PROGRAMS:
        print("there is no PostgreSQL here: --database sqlite", file=sys.stderr)
        return 6
    print(f"seed {options.seed}: {options}", flush=True)
    chaos = Chaos(options, say=lambda line: print(line, flush=True))
    problems = chaos.run()
    for name, count in sorted(chaos.counts.items()):
        print(f"{count:5} {name}")
    print(f"{options.features} features in {chaos.took_s:.0f} s, seed {options.seed}")
    for each in problems:
        print(f"PROBLEM: {each}")
    print("nothing was wrong" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
