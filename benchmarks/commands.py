"""Measure the most used commands against a Python program that does nothing."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.pipelines import coders
from benchmarks.rows import Row, p50, ratio
from benchmarks.sandbox import AGENTMUX, PASS, Sandbox, side_by_side, wait_until

FEW: Final = 10
TAB_S: Final = 0.06
"""How long a Tab may take on any machine; more only where Python itself needs a third of it."""

MANY: Final = 1000
_SILENT: Final = {"roles": {"architect": {"submit": "no"}}}


def submit(*, quick: bool) -> Iterator[Row]:
    """Measure one ``submit`` of an architect; the session is restored before each run."""
    with Sandbox(_SILENT) as sandbox:
        session = sandbox.start()
        launch = _seat(session, "architect")
        env = json.loads((session / "launches" / launch / "launch.json").read_text())["env"]
        wait_until(lambda: any(each["did"] == "wrote" for each in sandbox.trace()), "its work")
        sandbox.kill_server()
        kept = sandbox.root / "kept"
        shutil.copytree(session, kept, ignore=shutil.ignore_patterns("*.fifo"))
        argv = (AGENTMUX, "submit", "architecture")

        def ours() -> float:
            shutil.rmtree(session)
            shutil.copytree(kept, session)
            os.sync()  # so that the command's first flush does not write the copy
            taken = sandbox.time(argv, env)
            journal = (session / "tool_events.jsonl").read_text()
            if journal.count('"submit_architecture"') != 1:
                msg = "the signal was not taken"
                raise RuntimeError(msg)
            return taken

        found, base = side_by_side(15 if quick else 40, ours, lambda: sandbox.time(PASS))
    yield ratio("`submit`, against `python -c pass`", found, base, 3.5)


def listing(*, quick: bool) -> Iterator[Row]:
    """Measure ``list`` of few sessions and of many."""
    with killed_sessions(FEW) as few, killed_sessions(MANY) as many:
        argv = (AGENTMUX, "list")
        ours, more, base = side_by_side(
            10 if quick else 30,
            lambda: few.time(argv),
            lambda: many.time(argv),
            lambda: few.time(PASS),
        )
    yield ratio(f"`list` of {FEW}, against `python -c pass`", ours, base, 15)
    extra = [many_s - few_s for many_s, few_s in zip(more, ours, strict=True)]
    yield ratio(f"`list` of {MANY}, more than of {FEW}, against `python -c pass`", extra, base, 7)


def completion(*, quick: bool) -> Iterator[Row]:
    """Measure a Tab: the commands, the sessions, and the seats of a session."""
    with killed_sessions(MANY) as sandbox:
        name = _folders(sandbox)[0].name
        for what, words in (
            ("a command", ("st",)),
            (f"one of {MANY} sessions", ("resume", "")),
            ("a seat", ("show", name, "--role", "")),
            ("an agent", ("start", "--agent", "")),
        ):
            argv = (AGENTMUX, "_complete", "--", *words)
            ours, base = side_by_side(
                10 if quick else 30, partial(sandbox.time, argv), lambda: sandbox.time(PASS)
            )
            limit = max(3.0, TAB_S / p50(base))
            yield ratio(f"Tab, {what}, against `python -c pass`", ours, base, limit)


def standing(*, quick: bool) -> Iterator[Row]:
    """Measure ``agentmux`` alone, with few sessions."""
    with killed_sessions(FEW) as few:
        ours, base = side_by_side(
            10 if quick else 30, lambda: few.time((AGENTMUX,)), lambda: few.time(PASS)
        )
    yield ratio(f"`agentmux` alone with {FEW}, against `python -c pass`", ours, base, 15)


def dry_run(*, quick: bool) -> Iterator[Row]:
    """Measure ``resume --dry-run`` of one session that is implementing, and of many."""
    with killed_sessions(FEW) as few:
        name = _folders(few)[0].name
        argv = (AGENTMUX, "resume", "--dry-run", "--json", name)
        ours, base = side_by_side(
            10 if quick else 30, lambda: few.time(argv), lambda: few.time(PASS)
        )
    yield ratio("`resume --dry-run`, against `python -c pass`", ours, base, 15)
    with killed_sessions(MANY) as many:
        argv = (AGENTMUX, "resume", "--dry-run", "--json", "--all")
        whole, base = side_by_side(
            2 if quick else 5, lambda: many.time(argv), lambda: many.time(PASS)
        )
        calls = _tmux_calls(many, argv)
    each = [seconds / MANY for seconds in whole]
    yield ratio(
        f"`resume --dry-run --all` of {MANY}, each, against `python -c pass`", each, base, 0.1
    )
    yield Row(name="… its calls of tmux", value=calls, unit="calls", limit=1)


def _tmux_calls(sandbox: Sandbox, argv: tuple[str, ...]) -> int:
    """Return how often a command runs tmux, counted by a wrapper script earlier on PATH."""
    real = shutil.which("tmux", path=sandbox.env["PATH"])
    folder, log = sandbox.root / "shim", sandbox.root / "calls"
    folder.mkdir()
    shim = folder / "tmux"
    shim.write_text(f'#!/bin/sh\necho x >>"{log}"\nexec "{real}" "$@"\n')
    shim.chmod(0o755)
    found = json.loads(sandbox.run(*argv, env={"PATH": f"{folder}:{sandbox.env['PATH']}"}))
    if len(found["sessions"]) != MANY:
        msg = f"the dry run says {len(found['sessions'])} sessions"
        raise RuntimeError(msg)
    return len(log.read_text().splitlines()) if log.exists() else 0


# -- many sessions -------------------------------------------------------------------------------


def killed_sessions(count: int) -> Sandbox:
    """Return a project with ``count`` killed sessions, and a tmux server that answers."""
    sandbox = Sandbox(coders(2, {"think": 600}))
    session = sandbox.start()
    wait_until(lambda: sandbox.prompted() == 4, "two coders are at work")
    sandbox.kill_server()
    for number in range(1, count):
        _copy(session, session.with_name(f"{_earlier(number)}-feature-{number}"))
    sandbox.run("tmux", "-f", "/dev/null", "new-session", "-d", "-s", "other", "sleep", "600")
    return sandbox


def _earlier(number: int) -> str:
    return f"20260101-{number // 3600:02}{number // 60 % 60:02}{number % 60:02}"


def _copy(session: Path, target: Path) -> None:
    """Copy a session, and give the copy its own name and id."""
    shutil.copytree(session, target, ignore=shutil.ignore_patterns("*.fifo"))
    for name in ("state.json", "state.json.bak"):
        state = json.loads((target / name).read_text())
        state |= {
            "session_id": str(uuid.uuid5(uuid.NAMESPACE_OID, target.name)),
            "session_name": f"agentmux-{target.name}",
            "feature_dir": f".agentmux/.sessions/{target.name}",
        }
        (target / name).write_text(json.dumps(state))


def _folders(sandbox: Sandbox) -> list[Path]:
    found = (sandbox.project / ".agentmux" / ".sessions").iterdir()
    return sorted(each for each in found if each.is_dir())


def _seat(session: Path, seat: str) -> str:
    """Wait until a seat has a launch, and return the launch's id."""

    def held() -> Mapping[str, object]:
        seats = json.loads((session / "state.json").read_text()).get("seats", {})
        found: Mapping[str, object] = seats.get(seat, {})
        return found

    wait_until(held, f"{seat} is launched")
    return str(held()["launch"])
