"""Does the work that a prompt file asks for: writes artifacts, changes code, gives signals."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from agentmux.demo_agent.errors import QuitError
from agentmux.demo_agent.scenario import Behaviour
from agentmux.demo_agent.seat import OwnSeat
from agentmux.demo_agent.work import code_files
from agentmux.demo_agent.work.commands import CommandResult, kill
from agentmux.demo_agent.work.drafts import draft, finding
from agentmux.demo_agent.work.instructions import Instructions, subplan_of
from agentmux.demo_agent.work.trace import Trace

REFUSED: Final = 8
"""The exit status of ``agentmux submit`` for a signal that was refused."""

FIX_REQUEST: Final = "[!h]*/fix_request.md"
"""The pattern of the paths of fix requests: in any folder of the session except its history."""
PLAN: Final = "04_planning/plan.yaml"
"""The path of the plan in the session's directory."""


class SeatWork:
    """Does the work of one seat in the way that the scenario says."""

    def __init__(
        self,
        seat: OwnSeat,
        life: Behaviour,
        trace: Trace,
        *,
        run: Callable[[Sequence[str]], CommandResult],
        counters: Path,
    ) -> None:
        """Set up the work.

        Args:
            seat: The seat.
            life: How the agent behaves.
            trace: Records the agent's actions.
            run: Runs a command, after asking the user for permission if necessary.
            counters: The folder for markers of crashes. With ``once`` in the scenario, a crash that
                has a marker there is not repeated.
        """
        self._seat, self._life, self._trace = seat, life, trace
        self._run, self._counters = run, counters
        self._tries = 0
        self._example = ""
        self._changed: list[str] = []

    def do(self, asked: Instructions) -> str:
        """Write the files and give the signals of a prompt file; return one line about them.

        A signal that is refused does not raise: the line then names the first such command.

        Raises:
            QuitError: The scenario contains a crash at this point.
        """
        self._example = asked.example
        self._crash_at("before_write")
        if any(signal[2:3] == ("done",) for signal in asked.signals) or self._seat.role == "coder":
            return self._code(asked)
        self._write(asked.artifacts)
        self._crash_at("after_write")
        refused = [signal for signal in asked.signals if not self._submit(signal, asked.artifacts)]
        return self._ending(asked.artifacts, refused)

    def hello(self) -> None:
        """Run ``agentmux submit hello``, which tells AgentMux the id of the conversation."""
        self._run(("agentmux", "submit", "hello"))

    def needed_research(self) -> list[tuple[str, str]]:
        """Request the research of the scenario that has no result yet; return what to wait for.

        Returns:
            The accepted requests that have no result yet, as pairs of kind (``code`` or ``web``)
            and topic. Empty if there is nothing to wait for.
        """
        waiting = []
        for item in self._life.research or ():
            kind, topic = str(item["kind"]), str(item["topic"])
            if self.is_researched(kind, topic):
                continue
            words = item.get("args") or [f"What must we know about {topic}?"]
            ran = self._run(("agentmux", "research", kind, "--topic", topic, *map(str, words)))
            if ran.status == 0:
                self._trace.add_line("asked", f"{kind} {topic}")
                waiting.append((kind, topic))
        return [(kind, topic) for kind, topic in waiting if not self.is_researched(kind, topic)]

    def is_researched(self, kind: str, topic: str) -> bool:
        """Return whether the session has the result of a research request.

        Args:
            kind: The kind of the research: ``code`` or ``web``.
            topic: The topic, as named in the research request.
        """
        folder = Path(self._seat.session_dir, "03_research", f"{kind}-{topic}")
        return bool(self._seat.session_dir) and (folder / "done").exists()

    # writing

    def _write(self, artifacts: Sequence[str], *, fixed: bool = False) -> None:
        how = self._life.write
        wrong = how == "wrong" or (how == "wrong-first" and not fixed)
        for path in artifacts:
            if how == "none":
                continue
            life = self._with_finding()
            text = draft(path, self._seat, life, example=self._example, wrong=wrong)
            if how == "half" and not fixed:
                text = text[: len(text) // 2]
            code_files.write_whole(Path(path), text)
            self._trace.add_line("wrote", path)

    def _with_finding(self) -> Behaviour:
        """Return the behaviour, with a finding added if a failing review lists none.

        The finding is about the first file of the plan.
        """
        life = self._life
        if life.verdict == "pass" or life.findings is not None:
            return life
        return life._replace(findings=[finding(self._seat, code_files.first_file(self._plan()))])

    def _code(self, asked: Instructions) -> str:
        refused = []
        for signal in asked.signals or ((),):
            self._write(asked.artifacts)
            self._change(subplan_of(signal))
            self._crash_at("after_write")
            if signal and not self._submit(signal, asked.artifacts):
                refused.append(signal)
        return self._ending(self._changed, refused)

    def _change(self, subplan: int | None) -> None:
        """Write the code of a sub-plan, or follow the newest fix request.

        Args:
            subplan: The number of the sub-plan. If it is None, a plain ``coder`` follows the fix
                request if there is one; otherwise the seat's own sub-plan is written.
        """
        if self._life.write == "none":
            return
        root, seat = Path.cwd(), self._seat
        request = self._fix_request()
        is_fixing = subplan is None and seat.seat == seat.role
        files = self._life.files or {}
        if is_fixing and request is not None:
            text = request.read_text(encoding="utf-8", errors="replace")
            names = code_files.fix(root, text, f"{seat.cycle}.{seat.iteration}", files)
        else:
            names = code_files.build(root, self._plan(), subplan or seat.subplan or 1, files)
        self._changed += names
        self._trace.add_line("wrote", " ".join(names))

    def _fix_request(self) -> Path | None:
        """Return the path of the newest fix request; None if there is none."""
        if not self._seat.session_dir:
            return None
        paths = Path(self._seat.session_dir).glob(FIX_REQUEST)
        return max(paths, key=lambda path: path.stat().st_mtime, default=None)

    def _plan(self) -> dict[str, Any]:
        path = Path(self._seat.session_dir or ".", PLAN)
        if not path.is_file():
            return {}
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 (a safe one)
        return data if isinstance(data, dict) else {}

    # signalling

    def _submit(self, signal: Sequence[str], artifacts: Sequence[str]) -> bool:
        """Give one signal in the way that the scenario says.

        A refused signal is given once more, after writing the artifacts again.

        Args:
            signal: The command line of the signal.
            artifacts: The paths of the artifacts.

        Returns:
            False if the signal was refused or failed in the end; True if it was accepted, or if the
            scenario says to give none.
        """
        self._crash_at("before_signal")
        if self._life.submit in {"no", "when-told"}:
            return True
        if self._life.submit == "killed":
            return kill(signal).status == 0
        ran = self._signal(signal)
        if ran.status == REFUSED:
            self._write(artifacts, fixed=True)
            ran = self._signal(signal)
        elif self._life.submit == "twice":
            self._signal(signal)
        self._crash_at("after_signal")
        return ran.status == 0

    def _signal(self, signal: Sequence[str]) -> CommandResult:
        ran = self._run(signal)
        self._trace.add_line("signalled", f"{' '.join(signal[1:])} -> {ran.status}")
        return ran

    def _ending(self, done: Sequence[str], refused: Sequence[Sequence[str]]) -> str:
        if refused:
            return f"I could not submit: {' '.join(refused[0])}"
        names = ", ".join(Path(path).name for path in done)
        return f"Done: {names}." if names else "Done."

    # crashing

    def _crash_at(self, point: str) -> None:
        life = self._life
        if life.crash != point or (life.once and not self._first_crash()):
            return
        self._trace.add_line("crashed", point)
        if life.kill is not None:
            os.kill(os.getpid(), life.kill)
        raise QuitError(life.exit)

    def _first_crash(self) -> bool:
        seat = self._seat
        name = f"{seat.session_id}.{seat.seat}.{seat.cycle}.{seat.iteration}.crashed"
        try:
            os.close(os.open(self._counters / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True
