"""The worker of a host: takes features from the fleet, and runs each with the command `start`."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, NoReturn

import sqlalchemy as sa

from agentmux.adapters.system.python.installation import require_installed
from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import FleetSettings
from agentmux.core.fleet.routing import HEARTBEAT_S
from agentmux.core.fleet.statuses import AT_REST, ENDED, FleetStatus, outcome
from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.names.words.counts import format_count
from agentmux.errors import AgentmuxError, ExitCode
from agentmux.fleet.decisions.abandoned import stop_abandoned
from agentmux.fleet.decisions.moves import ExportWatch
from agentmux.fleet.engine import rows
from agentmux.fleet.engine import workflows as dbos
from agentmux.fleet.engine.database import (
    UNREACHABLE_ERRORS,
    engine_for,
    explain_errors,
    require_contract,
)
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.log import log_to
from agentmux.fleet.engine.tables import FEATURES, HOSTS
from agentmux.fleet.host.commands import HostCommands
from agentmux.fleet.host.host import Host, Order
from agentmux.fleet.host.leases import Leases
from agentmux.fleet.host.presence import Presence
from agentmux.fleet.host.session import HostSessions
from agentmux.fleet.host.slots import Slots
from agentmux.fleet.host.stopping import StoppingError
from agentmux.fleet.host.untrusted_rows import require_id, session_of
from agentmux.fleet.host.watching import HostWatch
from agentmux.fleet.queue.admission import admit
from agentmux.fleet.queue.requeue import DroppedWorkflows
from agentmux.fleet.worker.drive import drive
from agentmux.wiring import machine

logger = logging.getLogger(__name__)

LOOK_S: Final = 2.0
"""How many seconds pass between two reads of this host's features from the database."""
_SETTLED_S: Final = 3600.0
_BEATS_PER_LEASE: Final = 3
_FORGET_EVERY_S: Final = 3600.0
_GOODBYE_S: Final = 5.0
"""How long an ending worker waits for the database before it ends without telling the fleet."""
_KEPT_S: Final = 86_400.0
"""How long the records of DBOS about an ended workflow are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The options of a worker.

    Attributes:
        name: The host's name in the fleet.
        slots: How many features the worker runs at once.
        place: The fleet's folder on this host.
        settings: The settings of the fleet.
        environ: The environment variables of the worker.
        config: The file given with ``--config``; None if there was none.
        said: A function that is called with each line of output for the user.
    """

    name: str
    slots: int
    place: FleetHome
    settings: FleetSettings
    environ: Mapping[str, str]
    config: Path | None
    said: Callable[[str], object]


def work(options: WorkerOptions) -> int:
    """Run the worker until a signal ends it, or its host is drained; then end this process.

    It never returns, in spite of its type: once the worker has started, it ends the process itself,
    with the exit code. It only raises before that. On a drained host, it first waits for the drives
    that run. Sessions keep running in tmux, and the next worker of this host follows them.

    Raises:
        BlockedError: Another worker runs on this host or with its id, or another host has its name.
        DataError: The database has another contract version, or no fleet.
        MissingError: The fleet is not set up here, or its database is unreachable.
    """
    with options.place.alone():
        engine = engine_for(options.place.url())
        try:
            require_contract(engine)
            with log_to(options.place) as log:
                return _Worker(options, engine, log).run()
        finally:
            engine.dispose()


class _Worker:
    """One run of a worker."""

    def __init__(self, options: WorkerOptions, engine: sa.Engine, log: logging.Handler) -> None:
        self._options, self._engine, self._log = options, engine, log
        place = options.place
        self._host = Host(
            id=place.identity(),
            name=options.name,
            place=place,
            engine=engine,
            enqueuer=dbos.Enqueuer(engine),
            commands=HostCommands(
                environ=options.environ, locks=place.drives, config=options.config
            ),
            settings=options.settings,
            slots=Slots(options.slots),
            leases=Leases(options.settings.lease_s),
            watching=HostWatch(self._drive_moved_session),
            environ=options.environ,
            config=options.config,
            stop=threading.Event(),
            draining=threading.Event(),
            orders={},
        )
        self._sessions: dict[Path, str] = {}
        self._dropped = DroppedWorkflows()
        self._moves = ExportWatch()
        self._beat_at = 0.0
        self._busy = 0
        self._presence = Presence(self._host, options.slots)
        self._forgot_at = -_FORGET_EVERY_S

    def run(self) -> int:
        with explain_errors(self._engine):
            self._presence.begin()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        with explain_errors(self._engine):
            self._beat()
            self._look()
            dbos.launch(
                self._engine,
                self._host.id,
                self._log,
                admit=self._body(admit),
                drive=self._body(drive),
            )
        slots = format_count(self._options.slots, "slot")
        if not self._options.settings.repos:
            self._options.said("warning: this host may run no repository: see `fleet.repos`")
        self._options.said(f"worker {self._host.name} runs with {slots} (Ctrl-C ends it)")
        try:
            while not self._host.stop.wait(LOOK_S) and not self._host.draining.is_set():
                self._turn()
            return self._end()
        except AgentmuxError as error:
            return self._end_with_error(error)

    def _on_signal(self, *_: object) -> None:
        # In a thread, because the interrupted code may hold the event's lock.
        threading.Thread(target=self._stop, daemon=True).start()

    def _stop(self) -> None:
        self._host.stop.set()
        threading.Event().wait(_GOODBYE_S)
        logger.warning("the database did not hear that this worker ends")
        self._exit(ExitCode.OK)

    def _body(self, body: Callable[[Host, str, int], str]) -> Callable[[str, int], str]:
        def run(feature_id: str, number: int) -> str:
            try:
                with self._dropped.at_work(body.__name__, feature_id, number):
                    result = body(self._host, require_id(feature_id), int(number))
            except StoppingError:
                threading.Event().wait()  # stays unfinished, so that the next worker runs it again
                raise
            except Exception:
                logger.exception("%s %s failed", body.__name__, feature_id)
                self._broken(feature_id, number)
                return "failed: a bug"
            logger.info("%s %s %s: %s", body.__name__, feature_id, number, result)
            return result

        run.__qualname__ = run.__name__ = body.__name__
        return run

    def _broken(self, feature_id: str, number: int) -> None:
        reason = f"this is a bug in agentmux: see {self._options.place.log} on {self._host.name}"
        values = {"status": FleetStatus.FAILED, "reason": reason}
        mine = FEATURES.c.drive == number
        self._host.write(lambda each: rows.change(each, feature_id, mine, **values))
        self._host.slots.free(feature_id)

    # -- what the fleet hears and says -----------------------------------------------------------

    def _turn(self) -> None:
        """Read this host's features once, and report to the fleet if a report is due.

        A report is due every ten seconds, or three times per lease if that is more often; and at
        once when the number of used slots changes, because other hosts rely on it.

        Raises:
            InstallationGoneError: AgentMux was removed or replaced, so no command can be run.
        """
        require_installed(way_on="start it again: agentmux fleet worker")
        every_s = min(HEARTBEAT_S, self._options.settings.lease_s / _BEATS_PER_LEASE)
        try:
            late = time.monotonic() - self._beat_at >= every_s
            if late or self._host.slots.busy != self._busy:
                self._beat()
                self._host.watching.wake_drives()
                self._dropped.requeue(self._host)
                self._moves.look(self._host)
            self._look()
            self._forget()
        except UNREACHABLE_ERRORS as error:
            logger.warning("the database did not answer: %s", error)

    def _forget(self) -> None:
        """Delete the records of DBOS about ended workflows, once an hour, in a thread."""
        if time.monotonic() - self._forgot_at >= _FORGET_EVERY_S:
            self._forgot_at = time.monotonic()
            threading.Thread(target=self._forget_ended, daemon=True).start()

    def _forget_ended(self) -> None:
        try:
            self._host.enqueuer.forget(machine.now() - timedelta(seconds=_KEPT_S))
        except UNREACHABLE_ERRORS as error:  # it is tried again an hour later
            logger.warning("the database did not answer: %s", error)

    def _beat(self) -> None:
        """Tell the fleet that this worker runs, and extend the leases of its sessions."""
        asked = machine.now()
        self._beat_at, self._busy = time.monotonic(), self._host.slots.busy
        self._presence.beat(self._busy)
        lapsed = self._host.leases.have_lapsed(asked, self._beat_at)
        self._host.leases.extend(asked, self._beat_at)
        if lapsed:  # its features may have been given to other hosts meanwhile
            threading.Thread(target=stop_abandoned, args=(self._host,), daemon=True).start()

    def _look(self) -> None:
        """Read the features of this host from the database, and pass changes on to their drives."""
        with self._engine.connect() as connection:
            drained = connection.execute(
                sa.select(HOSTS.c.draining).where(HOSTS.c.id == self._host.id)
            ).scalar()
            mine = rows.features(
                connection,
                FEATURES.c.host == self._host.id,
                FEATURES.c.status.not_in([*ENDED, FleetStatus.QUEUED]),
            )
        mine = tuple(each for each in mine if each.status not in ENDED)  # such as a damaged row
        before = dict(self._host.orders)
        orders = {
            each.id: Order(cancelled=each.cancelled, epoch=each.epoch, drive=each.drive)
            for each in mine
        }
        for gone in before.keys() - orders.keys():
            del self._host.orders[gone]
        self._host.orders.update(orders)
        places = {each.id: session_of(self._host, each) for each in mine}
        begun = {path: each for each in mine if (path := places[each.id]) is not None}
        self._host.leases.renew({path: each.epoch for path, each in begun.items()})
        if before != orders:
            self._host.watching.wake_drives()
        resting = {path: each.id for path, each in begun.items() if each.status in AT_REST}
        new = resting.keys() - self._sessions.keys()
        self._sessions = resting
        self._host.watching.rest(frozenset(resting))
        for path in new:
            try:
                self._drive_moved_session(path)
            except (AgentmuxError, OSError) as error:  # the other sessions are still looked at
                logger.warning("could not look at %s: %s", path.name, error)
        if drained:
            self._host.draining.set()

    def _drive_moved_session(self, session: Path) -> None:
        """Enqueue a drive if a session at rest has changed, for example after a decision here."""
        feature_id = self._sessions.get(session)
        row = self._host.write(lambda each: rows.feature(each, feature_id or ""))
        if row is None or row.status not in AT_REST or not session.is_dir():
            return
        project = session.parents[2]
        sessions = HostSessions(
            project=project, environ=self._host.environ, config=self._host.config
        )
        view = sessions.view(session)
        result = outcome(view.status, _SETTLED_S, "")
        at_rest = result is not None and result.status == row.status
        if at_rest or view.status in {SessionStatus.INTERRUPTED, SessionStatus.UNKNOWN}:
            return

        def go_on(connection: sa.Connection) -> None:
            number = row.drive + 1
            same = (FEATURES.c.drive == row.drive, FEATURES.c.status == row.status)
            values = {"status": FleetStatus.RUNNING, "drive": number}
            if rows.change(connection, row.id, *same, **values):
                self._host.enqueuer.enqueue(connection, next_job(row, dbos.DRIVE, self._host.id))

        self._host.write(go_on)

    # -- the end -------------------------------------------------------------------------------

    def _end(self) -> int:
        if self._host.draining.is_set() and not self._host.stop.is_set():
            self._options.said(f"worker {self._host.name} is drained: it finishes what runs")
            self._finish_running()
        try:
            self._presence.end()
        except UNREACHABLE_ERRORS as error:
            logger.warning("the database did not answer: %s", error)
        self._options.said(f"worker {self._host.name} has ended; its sessions live on in tmux")
        return self._exit(ExitCode.OK)

    def _end_with_error(self, error: AgentmuxError) -> int:
        """Print the error and end the process; the sessions stop acting when their leases lapse."""
        self._options.said(f"error: {error.message}")
        for hint in error.hints:
            self._options.said(f"hint: {hint}")
        return self._exit(error.exit_code)

    @staticmethod
    def _exit(code: ExitCode) -> NoReturn:
        logger.info("the worker ended with exit code %s", code)
        for handler in logging.getLogger("agentmux").handlers:
            handler.flush()
        # Threads that follow sessions would keep the process alive; the next worker repeats them.
        os._exit(code)

    def _finish_running(self) -> None:
        """Take no more workflows, and wait until no drive runs, or the worker is told to end."""
        ended = threading.Event()

        def wait() -> None:
            dbos.stop_workflows(_FOR_EVER_S)
            ended.set()

        threading.Thread(target=wait, daemon=True).start()
        while not ended.is_set() and not self._host.stop.wait(LOOK_S):
            self._turn()


_FOR_EVER_S: Final = 10 * 365 * 86_400
