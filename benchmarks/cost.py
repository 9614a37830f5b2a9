"""Measure what a feature costs: agents that run, our prompts to them, and waiting for AgentMux.

``./dev bench --only cost`` writes what it has measured into `DATA`. The README's table is made of
it, and what ``agentmux start`` says of a pipeline is compared with it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.pipelines import NS, coders, is_summed_up, unix_s
from benchmarks.rows import Row, p50
from benchmarks.sandbox import AGENTMUX, Fields, Sandbox, wait_until

DATA: Final = Path(__file__).with_suffix(".json")
"""What was measured last: the fields of each pipeline and size."""
PIPELINES: Final = ("feature", "quick", "fix", "plan", "review")
SIZES: Final = ("small", "middle")

_CHECK: Final = "verify:\n- {name: tests, run: [python3, check.py], timeout: 1m}\n"
_SCRIPT: Final = """\
import json, pathlib, sys
newest = max(pathlib.Path(".agentmux/.sessions").glob("*/state.json"))
sys.exit(json.loads(newest.read_text())["phase"] == "confirming")
"""
"""A check that fails where `fix` expects it to, and passes elsewhere."""
_FAILS_ONCE: Final = {"attempts": [{"when": {"cycle": 1, "iteration": 0}, "verdict": "fail"}]}
_FILE: Final = re.compile(r"Read the file (\S+) ")


def cost(*, quick: bool) -> Iterator[Row]:
    """Measure a small and a middle feature in each built-in pipeline, and keep what was measured.

    In a small one, one coder and one reviewer work, and nothing fails. In a middle one, three
    coders and two reviewers work if the pipeline plans, and the first review asks for a fix.
    """
    measured = {
        pipeline: {size: measure(pipeline, size, rounds=1 if quick else 5) for size in SIZES}
        for pipeline in PIPELINES
    }
    DATA.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    for pipeline, sizes in measured.items():
        for size, fields in sizes.items():
            note = f"{fields['agents']} agents, {fields['prompt_bytes']} bytes of prompts"
            name = f"waiting for AgentMux, a {size} feature in `{pipeline}`"
            yield Row(name=name, value=fields["waiting_s"], unit="s", limit=4, note=note)


def measure(pipeline: str, size: str, *, rounds: int) -> Fields:
    """Run a feature; return its agents, the bytes of our prompts, and the seconds of waiting."""
    checks = pipeline in {"feature", "quick", "fix"}
    found: list[Fields] = []
    with Sandbox(_scenario(size), _CHECK if checks else "") as sandbox:
        (sandbox.project / "check.py").write_text(_SCRIPT)
        for words in (("branch", "work"), ("add", "-A"), ("commit", "-qm", "Check")):
            sandbox.run("git", *words)
        for number in range(rounds):
            sandbox.trace_file.unlink(missing_ok=True)
            found.append(_run(sandbox, pipeline, f"run-{number}"))
    return {**found[0], "waiting_s": round(p50([each["waiting_s"] for each in found]), 1)}


def _scenario(size: str) -> Fields:
    if size == "small":
        return coders(1, {})
    made = coders(3, {})
    made["roles"]["architect"] = {"reviewers": ["logic", "quality"]}
    made["roles"]["reviewer_logic"] = _FAILS_ONCE
    return made


def _run(sandbox: Sandbox, pipeline: str, name: str) -> Fields:
    """Run one feature to its decision; then approve it."""
    of = ("--of", "work") if pipeline == "review" else ()
    begun_s = time.time()
    words = ("--pipeline", pipeline, "--name", name, *of)
    session = sandbox.start("add a greeting", *words)
    wait_until(lambda: is_summed_up(session), "the summary is handed in")
    ended_s = unix_s(json.loads((session / "state.json").read_text())["updated_at"])
    trace = sandbox.trace()
    sandbox.run(AGENTMUX, "approve", session.name, "--yes")
    wait_until(lambda: not sandbox.processes(), "the session is closed")
    prompts = [each["what"] for each in trace if each["did"] == "prompted"]
    return {
        "agents": len({each["launch"] for each in trace}),
        "prompt_bytes": sum(map(_size, prompts)) + len(prompts) * _bytes(session / "context.md"),
        "waiting_s": ended_s - begun_s - _working_s(trace),
    }


def _size(line: str) -> int:
    """Return the bytes of a line that was typed to an agent, and of the prompt that it names."""
    named = _FILE.search(line)
    return len(line.encode()) + (_bytes(Path(named[1])) if named else 0)


def _bytes(path: Path) -> int:
    return path.stat().st_size


def _working_s(trace: Sequence[Fields]) -> float:
    """Return for how many seconds at least one agent worked: from its prompt to its last act."""
    spans: dict[str, tuple[float, float]] = {}
    for line in trace:
        at = line["at"] / NS
        spans[line["launch"]] = (spans.get(line["launch"], (at, at))[0], at)
    total = until = 0.0
    for begun, ended in sorted(spans.values()):
        total += max(0.0, ended - max(begun, until))
        until = max(until, ended)
    return total
