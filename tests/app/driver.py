"""A whole pipeline in one process: the real orchestrator on a terminal that runs no programs.

`Studio` is a project with a session in it. Agents and user are functions: an agent reads its launch
folder as real agents do, writes its artifacts, and hands in through
`agentmux.app.signals.submission`. Only the adapters behind the ports are replaced.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import itertools
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentmux.adapters.wake.file_changes import wait_until_gone
from agentmux.adapters.wake.pipe import WakeFifo, poke
from agentmux.app.commands.begin.start import StartRequest, plan_start, start
from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorReport,
    OrchestratorRequest,
)
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart
from agentmux.app.commands.resume.resume import plan_resume, resume
from agentmux.app.delivery.approval.approval_question import approval_of
from agentmux.app.delivery.approval.deliverable import deliverable
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.process import drive
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.signals.submission import SubmitAnswer, decide, identity_from, submit
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.fold.signals.description import Submission as Handin
from agentmux.core.journal.events import Approved, ChangesRequested, Event
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import COMMANDS, SETUP, Phase
from agentmux.core.pipeline.delivery import failure
from agentmux.core.terminal.keys.console import TextPage
from agentmux.core.terminal.keys.keys import Pressed
from agentmux.errors import ExitCode
from agentmux.ports.git.repository import (
    ChangeRange,
    Head,
    LeftCommits,
    ResultChangedError,
    UnsavedWork,
)
from agentmux.ports.tmux.display import MonitorContent
from agentmux.ports.tmux.terminal import (
    Arranged,
    Client,
    CreatedSession,
    DeliveryResult,
    LeaveKeys,
    NewPane,
    Pane,
    Panes,
    Screen,
    Server,
    ServerListing,
    Target,
    TerminalGoneError,
    TmuxSession,
    TypingResult,
)
from agentmux.wiring import build
from tests.fakes.notifier import Postbox

FEATURE = "add a calculator"
MESSAGE = "Add a calculator"
_MKDIR = os.mkdir  # the real one: folders that agents make are not recorded
_SUBMIT = re.compile(r"^agentmux submit ([a-z-]+)(.*)$", re.MULTILINE)


@dataclass(slots=True)
class SimPane:
    """A pane in which no program runs; ``step`` is the progress of its agent."""

    id: str
    seat: str
    launch: str
    step: str = "new"
    shows: str = ""
    typed: tuple[str, ...] = ()


class SimTerminal:
    """`ports.tmux.terminal.Terminal` without processes: opening a pane only calls ``begin``."""

    socket = "/nowhere/sim"

    def __init__(self) -> None:
        self.session: TmuxSession | None = None
        self.found: dict[str, SimPane] = {}
        self.opened: list[str] = []
        self.begin: Callable[[SimPane], None] = lambda pane: None
        self.hang_up: Callable[[SimPane], None] = lambda pane: None
        self.screen_of: Callable[[SimPane], str] = lambda pane: ""
        self.moved = 0
        self.messages: list[str] = []
        self._numbers = itertools.count(1)

    def server(self) -> Server:
        return Server(socket=self.socket, pid=0, started=0)

    def sessions(self) -> tuple[TmuxSession, ...]:
        return () if self.session is None else (self.session,)

    def listing(self) -> ServerListing:
        return ServerListing(server=self.server(), sessions=self.sessions())

    def own(self, target: Target) -> SimTerminal:
        assert self.target == target
        return self

    @property
    def target(self) -> Target:
        assert self.session is not None
        return Target(server=self.server(), session=self.session.id, uuid=self.session.uuid)

    def count_clients(self) -> int:
        return 0

    def clients(self) -> tuple[Client, ...]:
        return ()

    def leave_keys(self) -> LeaveKeys:
        return LeaveKeys(detach="", back="")

    def create_session(
        self,
        *,
        name: str,
        uuid: str,
        path: str,
        cwd: Path,
        size: tuple[int, int],
        argv: Sequence[str],
    ) -> CreatedSession:
        self.session = TmuxSession(id="$0", name=name, uuid=uuid, path=path)
        return CreatedSession(session=self.session, pane="%0", server=self.server())

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        return "%0"

    def panes(self) -> tuple[Pane, ...]:
        if self.session is None:
            raise TerminalGoneError("the tmux session is gone")
        found = (("%0", "", ""), *((p.id, p.seat, p.launch) for p in self.found.values()))
        return tuple(
            Pane(id=pane, window="@0", pid=1, dead=False, seat=seat, launch=launch, visible=True,
                 activity=self.moved, is_monitor=pane == "%0")
            for pane, seat, launch in found
        )  # fmt: skip

    def find_pane(self, launch: str) -> str:
        return next((each.id for each in self.panes() if each.launch == launch), "")

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        made = [SimPane(f"%{next(self._numbers)}", new.seat, new.launch) for new in panes]
        for pane in made:
            self.found[pane.id] = pane
            self.opened.append(pane.launch)
            self.begin(pane)
        return {pane.launch: pane.id for pane in made}

    def arrange(self, visible: Sequence[str]) -> Arranged:
        return Arranged()

    def go_to(self, pane: str) -> bool:
        return pane in self.found

    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        pass

    def tell_clients(self, text: str) -> None:
        self.messages.append(text)

    def label(self, labels: Mapping[str, str]) -> None:
        pass

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        texts = {pane: self.screen_of(self.found[pane]) for pane in panes if pane in self.found}
        return {
            pane: Screen(ansi=text, text=text, cols=80, rows=24, cursor_row=0, cursor_col=0)
            for pane, text in texts.items()
        }

    def type_text(self, pane: str, text: str) -> None:
        raise AssertionError("whoever types here goes through the typist")

    def paste(self, pane: str, text: str) -> None:
        raise AssertionError("whoever types here goes through the typist")

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        raise AssertionError("no test presses keys here")

    def press_enter(self, pane: str) -> None:
        raise AssertionError("whoever types here goes through the typist")

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        for pane in panes:
            closed = self.found.pop(pane, None)
            if closed is not None:
                self.hang_up(closed)

    def kill(self, words: str = "") -> str:
        self.close_panes(tuple(self.found))
        self.session = None
        return ""

    def again(self, panes: Sequence[SimPane]) -> None:
        """Take over the panes that another orchestrator left."""
        self.found = {pane.id: replace(pane) for pane in panes}
        self.opened = [pane.launch for pane in panes]
        self._numbers = itertools.count(1 + max((int(p.id[1:]) for p in panes), default=0))


class NobodyDies:
    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        pass

    def start_time(self, pid: int) -> int:
        return 0

    def close(self) -> None:
        pass


def ends_nobody(processes: Sequence[tuple[int, int]]) -> None:
    raise AssertionError("nothing runs here")


class _ReadyAtOnce:
    path = Path("/nowhere/ready")

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        return OrchestratorReport(ok=True).encode()

    def set_folder(self, folder: Path) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(slots=True)
class _User:
    """A user who requests changes once, then approves; `show` gives it every picture."""

    studio: Studio
    asked: set[tuple[int, str]] = field(default_factory=set)

    def show(self, picture: MonitorContent) -> None:
        state = picture.state
        if self.studio.ends_when(state):
            poke(self.studio.session, b"s\n")
            return
        if state.phase != Phase.COMPLETING or not state.summary_submitted or state.approval:
            return
        what = (state.cycle, failure(state))
        if what not in self.asked and not state.pending_archive:
            self.asked.add(what)
            asyncio.get_running_loop().call_soon(self._decide, state.cycle)

    def page(self) -> TextPage:
        return TextPage()

    def _decide(self, cycle: int) -> None:
        files = self.studio.world.files(self.studio.session)
        more = cycle < self.studio.cycles
        fact = ChangesRequested(text="Subtract, too.") if more else self._approval()
        self.studio.heard(
            decide(files, fact, at=_now(), new_id=self.studio.world.new_id, poke=poke)
        )

    def _approval(self) -> Approved:
        """Return the approval of the files as they are now."""
        state = self.studio.state()
        world = with_workplace(self.studio.world, state)
        files = world.files(self.studio.session)
        found = deliverable(world, state)
        if not self.studio.brings_back:
            found = replace(found, brings_back=())
        return approval_of(files, state, found, self.studio.then)

    def ring(self) -> None:
        pass

    def fileno(self) -> int | None:
        return None

    def keys(self) -> tuple[Pressed, ...]:
        return ()

    def limit_size(self, cols: int, rows: int) -> None:
        pass

    def handle_resize(self) -> None:
        pass

    def close(self) -> None:
        pass


class Studio:
    """A git project with one session that can be driven, interrupted, and driven again."""

    def __init__(
        self,
        project: Path,
        environ: Mapping[str, str],
        *,
        cycles: int = 2,
        real_git: bool = False,
        worktree: bool = False,
        checkpoints: bool = True,
        short: bool = False,
        setup: tuple[SetupStep, ...] = (),
        verify: tuple[VerifyCommand, ...] = (),
    ) -> None:
        self.project = project
        self.postbox = Postbox()
        self.worktree = worktree
        self.ground = project.parent if worktree else project
        """The folder that contains all that a session changes."""
        self.cycles = cycles
        self.world: World = build.world(project, environ=environ)
        settings = self.world.settings
        chosen = replace(settings.git, checkpoints=real_git and checkpoints, setup=setup)
        self.world = replace(self.world, settings=replace(settings, git=chosen, verify=verify))
        if not real_git:
            self.world = replace(self.world, repository=NotedRepository(project))
        self.short = short
        """The first cycle is as the second one: no research, one sub-plan, and no failed review."""
        self.terminal = SimTerminal()
        self.session = Path("/nowhere")
        self.index_wait_s = 30.0
        self.require_lease: Callable[[], None] = lambda: None
        self.require_installed: Callable[[str], None] = lambda _: None
        self.then = ""
        self.brings_back = False
        self.approver: Callable[[str], Mapping[str, str] | None] = lambda _: None
        self.ends_when: Callable[[SessionState], bool] = lambda state: False
        """Stops the orchestrator, as its user may, in the first state for which this is true."""
        self.gone = wait_until_gone
        self.limited: Callable[[SimPane], str] = lambda pane: ""
        """Returns the screen of an agent that is at its usage limit now; empty for no limit."""
        self.accepted: list[str] = []
        """Ids of the signals that were answered with `accepted`, in order."""
        self.ran: list[str] = []
        """The names of the commands without an agent that ran, in order."""
        self.typed: list[str] = []
        """What was typed and pressed in any pane, in order; keys with blanks between them."""

    # -- the session -------------------------------------------------------------------------

    def start(self) -> None:
        self._new_terminal()
        plan = plan_start(
            self.world,
            StartRequest(feature=FEATURE, agent="demo", worktree=self.worktree or None),
            {},
        )
        self.session = start(self.world, _starter(), plan).path

    def resume(self) -> str:
        """Resume the session on a new tmux server; return the phase that the plan inferred."""
        self._new_terminal()
        plan = plan_resume(self.world, self.world.files(self.session))
        resume(self.world, _starter(), plan, OrchestratorRequest(mode="resume"))
        return plan.inference.phase

    def reattach(self, session: TmuxSession, panes: Sequence[SimPane]) -> None:
        """Continue with these panes, whose agents are still running."""
        self._new_terminal()
        self.terminal.session = session
        self.terminal.again(panes)

    def again(self, accepted: Sequence[str]) -> Studio:
        """Return the same project with a new terminal; ``accepted`` are ids of accepted signals."""
        other = copy.copy(self)
        other.accepted = list(accepted)
        other.ran, other.typed = [], []
        other.terminal = SimTerminal()
        return other

    def drive(self, mode: str, *, deadline_s: float = 60.0) -> ExitCode:
        """Run an orchestrator until it ends."""
        return asyncio.run(asyncio.wait_for(self._drive(mode), deadline_s))

    async def _drive(self, mode: str) -> ExitCode:
        for pane in tuple(self.terminal.found.values()):
            if pane.step in {"new", "working", "told"}:
                self._later(pane)
        wake = WakeFifo(self.session)

        tools = LoopDependencies(
            terminal=self.terminal,
            lock=self.world.locks.session(self.session),
            wake=wake,
            deaths=NobodyDies(),
            type_into=self._type_into,
            press=self._press,
            display=_User(self),
            hints=no_hints,
            gone=self.gone,
            index_wait_s=self.index_wait_s,
            end=ends_nobody,
            notifier=self.postbox,
            approver=self.approver,
            require_lease=self.require_lease,
            require_installed=self.require_installed,
        )
        try:
            return await drive(
                self.world,
                self.world.files(self.session),
                OrchestratorRequest(mode=mode),  # type: ignore[arg-type]  # one of its words
                tools,
                identity={"pid": os.getpid()},
                report=lambda report: None,
            )
        finally:
            wake.close()
            tools.lock.release()  # as the end of a process does

    def _new_terminal(self) -> None:
        self.terminal = terminal = SimTerminal()
        terminal.begin = self._later
        terminal.hang_up = self._hung_up
        terminal.screen_of = lambda pane: pane.shows
        self.world = replace(self.world, terminal=lambda socket: terminal)

    # -- agents ------------------------------------------------------------------------------

    def heard(self, answer: SubmitAnswer) -> SubmitAnswer:
        """Record the event id of an accepted answer, and return the answer."""
        assert answer.result != "refused", answer
        if answer.result == "accepted" and answer.event_id is not None:
            self.accepted.append(answer.event_id)
        return answer

    def _later(self, pane: SimPane) -> None:
        asyncio.get_running_loop().call_soon(self._work, pane)

    def _work(self, pane: SimPane) -> None:
        if pane.id not in self.terminal.found:
            return
        told, pane.step = pane.step == "told", "working"
        pane.shows = self.limited(pane)
        if pane.shows:
            pane.step = "waiting"
            return
        if pane.seat == SETUP or pane.seat.partition("-")[0] in COMMANDS:
            self._set_up(pane)
            return
        agent = SimAgent(self, pane.launch)
        pane.step = "over" if agent.work(told=told) else "waiting"

    def _set_up(self, pane: SimPane) -> None:
        """Run a step of the setup, or a command of a check, as the program in its pane does."""
        folder = self.session / layout.launch(pane.launch)
        fields = json.loads((folder / "launch.json").read_text())
        self.ran.append(fields["name"])
        _leave(folder / "started", "")
        done = subprocess.run(fields["argv"], cwd=fields["cwd"], env=fields["env"], check=False)
        record = {"status": done.returncode, "signal": None, "hup": False}
        _leave(folder / "exit.json", json.dumps(record))
        del self.terminal.found[pane.id]
        poke(self.session)

    async def _type_into(
        self,
        panes: Panes,
        pane: str,
        text: str,
        spec: AgentSpec,
        *,
        deadline_s: float,
        once: bool = False,
        begins: Callable[[], object] | None = None,
        keyboard_lock: asyncio.Lock | None = None,
    ) -> TypingResult:
        found = self.terminal.found.get(pane)
        if found is None:
            return TypingResult(result=DeliveryResult.PANE_GONE, evidence="no pane")
        if begins is not None:
            begins()
        self._note_typed(found, text)
        if found.step == "waiting":
            found.step = "told"
            self._later(found)
        return TypingResult(result=DeliveryResult.SUBMITTED, evidence="simulated")

    async def _press(
        self, panes: Panes, pane: str, keys: Sequence[str], *, screen: str
    ) -> TypingResult:
        self._note_typed(self.terminal.found[pane], " ".join(keys))
        return TypingResult(result=DeliveryResult.SENT, evidence="simulated")

    def _note_typed(self, pane: SimPane, text: str) -> None:
        pane.typed += (text,)
        self.typed.append(text)

    def _hung_up(self, pane: SimPane) -> None:
        folder = self.session / layout.launch(pane.launch)
        if folder.is_dir():
            _leave(folder / "exit.json", json.dumps({"status": None, "signal": 1, "hup": True}))

    # -- results -----------------------------------------------------------------------------

    def events(self) -> tuple[tuple[Event, int], ...]:
        files = self.world.files(self.session)
        return files.tail(0)

    def state(self) -> SessionState:
        return self.world.files(self.session).load().state


class SimAgent:
    """The agent of one launch; working twice leaves the same files."""

    def __init__(self, studio: Studio, launch: str) -> None:
        self._studio = studio
        self._session = studio.session
        folder = self._session / layout.launch(launch)
        told = json.loads((folder / "launch.json").read_text())
        self._env: dict[str, str] = told["env"]
        self._cwd = Path(told["cwd"])
        self._prompt = (folder / "prompt.md").read_text()
        self._cycle = int(self._env["AGENTMUX_CYCLE"])
        self._is_whole = self._cycle == 1 and not studio.short
        self._iteration = int(self._env["AGENTMUX_ITERATION"])
        self._role = self._env["AGENTMUX_ROLE"]
        if not (folder / "started").exists():
            _leave(folder / "started", "")

    def work(self, *, told: bool) -> bool:
        """Do the whole task; return False if the agent waits for a message first."""
        found = _SUBMIT.findall(self._prompt)
        assert found, self._prompt
        signal = found[-1][0]
        if self._role == "architect" and self._is_whole and not told:
            return self._ask_first()
        getattr(self, "_" + signal.replace("-", "_"))()
        return True

    def _ask_first(self) -> bool:
        answer = self._hand_in(
            "research_dispatch_code", topic="numbers", question="How are numbers written here?"
        )
        if answer.result == "ignored" or not answer.reason.startswith("done"):
            return False
        return self.work(told=True)

    def _architecture(self) -> None:
        reviewers = "quality, logic" if self._is_whole else "logic"
        self._artifact(
            f"{layout.ARCHITECTING}/architecture.md",
            f"---\nreviewers: [{reviewers}]\n---\n# Architecture\n",
        )
        self._hand_in("submit_architecture")

    def _research_done(self) -> None:
        topic = self._env["AGENTMUX_TOPIC"]
        for name in ("summary.md", "detail.md"):
            self._artifact(f"{layout.research('code', topic)}/{name}", f"# {name}\n")
        self._hand_in("submit_research_done", topic=topic)

    def _plan(self) -> None:
        self._artifact(f"{layout.PLANNING}/plan.yaml", json.dumps(plan(2 if self._is_whole else 1)))
        self._hand_in("submit_plan")

    def _done(self) -> None:
        subplan = self._env["AGENTMUX_SUBPLAN"]
        if subplan:
            self._code(f"part_{subplan}.py", f"PART = {subplan}\nCYCLE = {self._cycle}\n")
            self._hand_in("submit_done", subplan_index=int(subplan))
            return
        senders = (layout.REVIEW, "verifying")
        requests = [self._session / each / "fix_request.md" for each in senders]
        assert any(each.exists() and each.read_text().strip() for each in requests)
        self._code("fixed.py", f"CYCLE = {self._cycle}\nITERATION = {self._iteration}\n")
        self._hand_in("submit_done")

    def _review(self) -> None:
        short = self._role.removeprefix("reviewer_")
        fails = short == "logic" and self._is_whole and self._iteration == 0
        review: dict[str, Any] = {"verdict": "fail" if fails else "pass", "summary": "Read it."}
        if fails:
            review["findings"] = [
                {"location": "one", "issue": "two", "severity": "high", "recommendation": "three"}
            ]
        else:
            review["commit_message"] = MESSAGE
        self._artifact(f"{layout.REVIEW}/review_{short}.yaml", json.dumps(review))
        self._hand_in("submit_review", role=short)

    def _summary(self) -> None:
        self._artifact(f"{layout.COMPLETION}/summary.md", f"# Cycle {self._cycle}\n")
        self._hand_in("submit_summary")

    def _hand_in(self, signal: str, **more: Any) -> SubmitAnswer:
        world = self._studio.world
        identity = identity_from(self._env, command="agentmux submit")
        answer = submit(
            world.files(self._session), identity, Handin(signal=signal, **more),
            at=_now(), new_id=world.new_id, poke=poke,
        )  # fmt: skip
        return self._studio.heard(answer)

    def _artifact(self, path: str, text: str) -> None:
        _leave(self._session / path, text)

    def _code(self, path: str, text: str) -> None:
        _leave(self._cwd / path, text)


def plan(parts: int) -> dict[str, Any]:
    """Return a plan with ``parts`` sub-plans in one parallel group."""
    groups = [
        {
            "group_id": "g1",
            "mode": "parallel",
            "plans": [{"index": n, "name": f"Part {n}"} for n in range(1, parts + 1)],
        }
    ]
    return {
        "version": 2, "plan_overview": "Parts side by side.", "needs_design": False,
        "needs_docs": False, "doc_files": [], "groups": groups,
        "subplans": [
            {
                "index": n, "title": f"Part {n}", "scope": ["it"], "owned_files": [f"part_{n}.py"],
                "dependencies": [], "implementation_approach": ["write it"],
                "acceptance_criteria": ["it is there"], "tasks": ["write it"],
                "isolation_rationale": "It has a file of its own.",
            }
            for n in range(1, parts + 1)
        ],
    }  # fmt: skip


class NotedRepository:
    """`agentmux.ports.git.repository.Repository` in one file, because a git commit takes 0.15 s."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._path = project / ".agentmux" / "commits.json"

    def commits(self) -> list[dict[str, Any]]:
        """Return every commit, oldest first: id, message, trailer, files with their content."""
        if not self._path.exists():
            return [{"id": "0" * 40, "message": "Begin", "trailer": "", "files": self._files()}]
        found: list[dict[str, Any]] = json.loads(self._path.read_text())
        return found

    def begin(self) -> None:
        """Make the first commit, of the files that exist now."""
        _leave(self._path, json.dumps(self.commits()))

    def top_level(self) -> Path | None:
        return self._project

    def is_bare(self) -> bool:
        return False

    def is_bisecting(self) -> bool:
        return False

    def list_tracked_files(self, _: Collection[Path]) -> tuple[str, ...]:
        return ()

    def protect_from_clean(self, _: Path) -> bool:
        return False

    def head(self) -> Head:
        return Head(commit=self.commits()[-1]["id"], branch="main")

    def dirty(self) -> tuple[str, ...]:
        now, before = self._files(), self.commits()[-1]["files"]
        return tuple(sorted(n for n in {*now, *before} if now.get(n) != before.get(n)))

    def list_nested(self) -> tuple[str, ...]:
        return ()

    def list_unsaved(self) -> UnsavedWork:
        return UnsavedWork()

    def changes(self) -> tuple[str, ...]:
        return (*self.dirty(), *self.list_nested())

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        return tuple(path for path in self.dirty() if path not in dirty_at_start)

    def contains(self, commit: str, *, tip: str = "HEAD") -> bool:
        return commit in [each["id"] for each in self.commits()] or tip != "HEAD"

    def require_author(self) -> None:
        """Do nothing: it commits in its own name."""

    def take_branch(self, name: str, head: Head) -> Head:
        raise AssertionError("no test without real git has a worktree")

    def fork(self, base: str, *, since: str, head: str = "HEAD") -> str:
        raise AssertionError("no test without real git has a worktree")

    def with_environment(self, environ: Mapping[str, str]) -> NotedRepository:
        return self

    def committed_since(self, commit: str) -> tuple[str, ...]:
        raise AssertionError("no test without real git has a worktree")

    def list_undone(self, commit: str) -> tuple[str, ...]:
        return ()

    def list_dropped_commits(self, commit: str, branch: str) -> tuple[str, ...]:
        raise AssertionError("no test without real git has a worktree")

    def is_related(self, commit: str) -> bool:
        return True

    def end_before_root(self) -> str | None:
        raise AssertionError("no test without real git has a worktree")

    def left_commits(
        self, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
    ) -> tuple[LeftCommits, ...]:
        raise AssertionError("no test without real git has a worktree")

    def subjects(self, since: str) -> tuple[str, ...]:
        raise AssertionError("no test without real git has a worktree")

    def show_changes(self, found: ChangeRange, *, paths: Collection[str], stat: bool) -> int:
        raise AssertionError("no test looks")

    def stat(self, found: ChangeRange) -> tuple[str, ...]:
        return tuple(f"{path} | 1 +" for path in self.dirty())

    def patch(self, found: ChangeRange) -> tuple[str, ...]:
        return tuple(f"+{path}" for path in self.dirty())

    def list_internal_changes(self) -> tuple[str, ...]:
        return ()

    def missing_hooks(self) -> str | None:
        return None

    def aside_hints(
        self, paths: Collection[str], why: str, *, is_all: bool = False
    ) -> tuple[str, ...]:
        return tuple(f"put them aside: {each}" for each in paths)

    def stash_hints(self, *asides: str, on: str = "") -> tuple[str, ...]:
        return ()

    def transfer_hints(self, made_on: str, to: Path | None) -> tuple[str, ...]:
        return ()

    def find_commit(
        self, trailer: tuple[str, str], *, since: str | None, also: Collection[str] = ()
    ) -> str | None:
        lines = {f"{trailer[0]}: {value}" for value in (trailer[1], *also)}
        return next((each["id"] for each in self.commits() if each["trailer"] in lines), None)

    def index_lock(self) -> Path | None:
        return None

    def settle_index(self, commit: str) -> None:
        pass

    def list_unnamed_commits(self, commit: str) -> tuple[str, ...]:
        raise AssertionError("no test asks for it")

    def has_branch(self, name: str) -> bool:
        return True

    def require_new_branch(self, name: str) -> None:
        raise AssertionError("no test asks for a branch")

    def create_branch(self, name: str) -> None:
        raise AssertionError("no test asks for a branch")

    def take_back_branch(self, name: str, before: Head) -> None:
        raise AssertionError("no test asks for a branch")

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
        tree: str = "",
    ) -> str:
        before, files = self.commits(), self._committing(paths)
        if tree not in {"", self.result_tree(paths)}:
            raise ResultChangedError
        made = {
            "id": f"{len(before):040x}",
            "message": message,
            "trailer": ": ".join(trailer),
            "files": files,
        }
        _leave(self._path, json.dumps([*before, made]))
        return str(made["id"])

    def result_tree(self, paths: Collection[str]) -> str:
        made = json.dumps(self._committing(paths), sort_keys=True)
        return hashlib.sha256(made.encode()).hexdigest()

    def _committing(self, paths: Collection[str]) -> dict[str, str]:
        files, now = dict(self.commits()[-1]["files"]), self._files()
        return {**files, **{path: now[path] for path in paths}}

    def _files(self) -> dict[str, str]:
        found = (path for path in self._project.iterdir() if path.is_file())
        return {path.name: path.read_text() for path in found if not path.name.startswith(".")}


def git(project: Path, *argv: str) -> str:
    """Run git in a project, and return what it printed."""
    done = subprocess.run(
        ["git", *argv], cwd=project, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_project(folder: Path) -> Path:
    """Make a git project with one commit and an identity."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", "--template=")
    with (folder / ".git" / "config").open("a") as config:
        config.write("[user]\n\tname = Test\n\temail = test@example.com\n")
        config.write("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
    (folder / "README.md").write_text("# A project\n")
    git(folder, "add", "README.md")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder.resolve()


def _leave(path: Path, text: str) -> None:
    """Write a file by renaming, so that images of the disk can share unchanged files."""
    _make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text)
    os.rename(temporary, path)  # noqa: PTH104 (recorded)


def _make_folder(path: Path) -> None:
    if not path.is_dir():
        _make_folder(path.parent)
        _MKDIR(path)


async def no_hints(stop: asyncio.Event) -> AsyncIterator[None]:
    await stop.wait()
    if not stop.is_set():
        yield


def _starter() -> OrchestratorStart:
    return OrchestratorStart(argv=lambda path, request: ("true",), pipe=lambda path: _ReadyAtOnce())


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
