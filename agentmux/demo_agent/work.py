"""A seat's work for one prompt file: write artifacts, change code, signal."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from agentmux.demo_agent import code_files
from agentmux.demo_agent.commands import Ran, kill
from agentmux.demo_agent.drafts import draft, finding
from agentmux.demo_agent.errors import QuitError
from agentmux.demo_agent.instructions import Instructions, subplan_of
from agentmux.demo_agent.scenario import Life
from agentmux.demo_agent.seat import OwnSeat
from agentmux.demo_agent.trace import Trace

REFUSED: Final = 8
"""Exit status of a submission that breaks a rule."""

FIX_REQUEST: Final = "07_review/fix_request.md"
PLAN: Final = "04_planning/plan.yaml"


class SeatWork:
    """Plays one seat. ``run`` asks for permission, runs a command and shows its output."""

    def __init__(
        self,
        seat: OwnSeat,
        life: Life,
        trace: Trace,
        *,
        run: Callable[[Sequence[str]], Ran],
        counters: Path,
    ) -> None:
        """Take the seat, its behaviour, and the folder for the marks of ``once``."""
        self._seat, self._life, self._trace = seat, life, trace
        self._run, self._counters = run, counters
        self._tries = 0
        self._changed: list[str] = []

    def do(self, asked: Instructions) -> str:
        """Do everything that is asked for; return one line about it."""
        self._crash_at("before_write")
        if self._seat.role == "coder":
            return self._code(asked)
        self._write(asked.artifacts)
        self._crash_at("after_write")
        refused = [signal for signal in asked.signals if not self._submit(signal, asked.artifacts)]
        return self._ending(asked.artifacts, refused)

    def hello(self) -> None:
        """Report our conversation, whose id the command finds in its environment."""
        self._run(("agentmux", "submit", "hello"))

    def needed_research(self) -> list[tuple[str, str]]:
        """Ask for the topics that are not done; return those to wait for."""
        waiting = []
        for item in self._life.research or ():
            kind, topic = str(item["kind"]), str(item["topic"])
            if self.is_researched(kind, topic):
                continue
            words = item.get("args") or [f"What must we know about {topic}?"]
            ran = self._run(("agentmux", "research", kind, "--topic", topic, *map(str, words)))
            if ran.status == 0:
                self._trace.did("asked", f"{kind} {topic}")
                waiting.append((kind, topic))
        return [(kind, topic) for kind, topic in waiting if not self.is_researched(kind, topic)]

    def is_researched(self, kind: str, topic: str) -> bool:
        """Return whether the session has the result of a topic."""
        folder = Path(self._seat.session_dir, "03_research", f"{kind}-{topic}")
        return bool(self._seat.session_dir) and (folder / "done").exists()

    # writing

    def _write(self, artifacts: Sequence[str], *, fixed: bool = False) -> None:
        how = self._life.write
        wrong = how == "wrong" or (how == "wrong-first" and not fixed)
        for path in artifacts:
            if how == "none":
                continue
            text = draft(path, self._seat, self._with_finding(), wrong=wrong)
            if how == "half" and not fixed:
                text = text[: len(text) // 2]
            code_files.write_whole(Path(path), text)
            self._trace.did("wrote", path)

    def _with_finding(self) -> Life:
        """Add a finding in an existing file to a failing review whose scenario has no findings."""
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
        """Write the code of one sub-plan; without a number, do what the fix request says."""
        if self._life.write == "none":
            return
        root, seat = Path.cwd(), self._seat
        request = Path(seat.session_dir, FIX_REQUEST) if seat.session_dir else None
        is_fixing = subplan is None and seat.seat == "coder"
        files = self._life.files or {}
        if is_fixing and request and request.is_file():
            text = request.read_text(encoding="utf-8", errors="replace")
            names = code_files.fix(root, text, f"{seat.cycle}.{seat.iteration}", files)
        else:
            names = code_files.build(root, self._plan(), subplan or seat.subplan or 1, files)
        self._changed += names
        self._trace.did("wrote", " ".join(names))

    def _plan(self) -> dict[str, Any]:
        path = Path(self._seat.session_dir or ".", PLAN)
        if not path.is_file():
            return {}
        import yaml  # noqa: PLC0415 (only a coder needs it)

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 (a safe one)
        return data if isinstance(data, dict) else {}

    # signalling

    def _submit(self, signal: Sequence[str], artifacts: Sequence[str]) -> bool:
        """Give one signal as the scenario says; return False if it was finally refused."""
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

    def _signal(self, signal: Sequence[str]) -> Ran:
        ran = self._run(signal)
        self._trace.did("signalled", f"{' '.join(signal[1:])} -> {ran.status}")
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
        self._trace.did("crashed", point)
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
