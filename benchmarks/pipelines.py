"""Measure how long agents wait for AgentMux: after a signal, at a start, in a whole pipeline."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from benchmarks.rows import Row, milliseconds, p50
from benchmarks.sandbox import AGENTMUX, PASS, Fields, Sandbox, wait_until

NS: Final = 1e9
_BY_ITSELF: Final = "completion: {require_approval: false}\n"


def _meanwhile(bare: Sequence[float]) -> str:
    """Return a note on how busy the machine was: on an idle one, bare Python takes 10 to 20 ms."""
    return f"`python -c pass` meanwhile {p50(bare) * 1000:.0f} ms"


# -- signal to prompt ----------------------------------------------------------------------------


def signal_to_prompt(*, quick: bool) -> Iterator[Row]:
    """Measure a serial pipeline in which each signal starts the next agent; three reviews fail."""
    fails = [{"when": {"iteration": n}, "verdict": "fail"} for n in range(3)]
    scenario = {
        "roles": {
            "planner": {"plan": {"parts": 1}},
            "reviewer_logic": {"attempts": fails},
        }
    }
    whole: list[float] = []
    after: list[float] = []
    bare: list[float] = []
    with Sandbox(scenario, _BY_ITSELF) as sandbox:
        for number in range(2 if quick else 6):
            sandbox.trace_file.unlink(missing_ok=True)
            session = sandbox.start("add a greeting", "--name", f"run-{number}")
            wait_until(lambda: sandbox.phase(session) == "done", "the pipeline is done")  # noqa: B023 (called at once)
            wait_until(lambda: not sandbox.processes(), "the session is closed")
            journal = (session / "tool_events.jsonl").read_text().splitlines()
            bare += [sandbox.time(PASS) for _ in range(5)]
            for typed_s, recorded_s in _transitions(sandbox.trace(), map(json.loads, journal)):
                whole.append(typed_s)
                after.append(recorded_s)
    note = f"from the journal's line of the signal on; {_meanwhile(bare)}"
    yield milliseconds("signal to next prompt", after, 125, note)
    note = "from before the agent runs `agentmux submit`"
    yield milliseconds("… with the command before it", whole, None, note)


def _transitions(
    trace: Sequence[Fields], journal: Iterator[Fields]
) -> Iterator[tuple[float, float]]:
    """Yield the seconds to the next agent's prompt: from the end of work, and from its event."""
    signals = [unix_s(each["at"]) for each in journal if each["event"].startswith("submit_")]
    signals += [0.0]
    done_s = 0.0
    for line in trace:
        at = line["at"] / NS
        if line["did"] == "wrote":
            done_s = at
        elif line["did"] == "prompted" and done_s:
            recorded = max(each for each in signals if each < at)
            yield at - done_s, at - recorded
            done_s = 0.0


def unix_s(stamp: str) -> float:
    """Return a time of a journal or a state in seconds of Unix time."""
    return datetime.fromisoformat(stamp).timestamp()


# -- start and resume ----------------------------------------------------------------------------


def start_to_prompt(*, quick: bool) -> Iterator[Row]:
    """Measure from before ``agentmux start`` runs to the first agent's prompt."""
    found: list[float] = []
    bare: list[float] = []
    with Sandbox({"default": {"silent": True}}) as sandbox:
        for number in range(5 if quick else 15):
            sandbox.trace_file.unlink(missing_ok=True)
            begun_s = time.time()
            session = sandbox.start("add a greeting", "--name", f"run-{number}")
            wait_until(sandbox.prompted, "the first prompt")
            found.append(sandbox.trace()[0]["at"] / NS - begun_s)
            sandbox.kill_server()
            shutil.rmtree(session)
            bare.append(sandbox.time(PASS))
    # The first start runs the agent's --help; later ones find its result in the cache.
    yield milliseconds("start to first prompt", found[1:], 600, _meanwhile(bare))


def resume_to_prompts(*, quick: bool) -> Iterator[Row]:
    """Measure from before ``agentmux resume`` runs to the last of eight agents' prompts."""
    found: list[float] = []
    bare: list[float] = []
    with Sandbox(coders(8, {"think": 600})) as sandbox:
        session = sandbox.start()
        wait_until(lambda: sandbox.prompted() == 10, "eight coders are at work")
        for _ in range(4 if quick else 9):
            sandbox.kill_server()
            sandbox.trace_file.unlink()
            bare.append(sandbox.time(PASS))
            begun_s = time.time()
            sandbox.run(AGENTMUX, "resume", "--detach", "--yes", session.name)
            wait_until(lambda: sandbox.prompted() == 8, "all prompts have arrived")
            found.append(sandbox.trace()[-1]["at"] / NS - begun_s)
    yield milliseconds("resume of 8 panes to last prompt", found, 900, _meanwhile(bare))


def coders(count: int, life: Mapping[str, object]) -> Fields:
    """Return a scenario with ``count`` coders in parallel; ``life`` says how they behave."""
    numbers = list(range(1, count + 1))
    plan = {"parts": count, "groups": [{"mode": "parallel", "plans": numbers}]}
    return {"roles": {"planner": {"plan": plan}, "coder": dict(life)}}


# -- a whole pipeline ----------------------------------------------------------------------------

_THINK_S: Final = 0.1


def pipeline_overhead(*, quick: bool) -> Iterator[Row]:
    """Measure the demo's pipeline: two coders, two reviewers, one failed review and its fix."""
    scenario = coders(2, {})
    scenario["default"] = {"think": _THINK_S}
    scenario["roles"]["architect"] = {"reviewers": ["logic", "quality"]}
    scenario["roles"]["reviewer_logic"] = {
        "attempts": [{"when": {"cycle": 1, "iteration": 0}, "verdict": "fail"}]
    }
    found: list[float] = []
    bare: list[float] = []
    with Sandbox(scenario, _BY_ITSELF) as sandbox:
        for number in range(2 if quick else 5):
            sandbox.trace_file.unlink(missing_ok=True)
            begun_s = time.time()
            session = sandbox.start("add a greeting", "--name", f"run-{number}")
            wait_until(lambda: sandbox.phase(session) == "done", "the pipeline is done")  # noqa: B023 (called at once)
            ended_s = unix_s(json.loads((session / "state.json").read_text())["updated_at"])
            found.append(ended_s - begun_s - _thinking_s(sandbox.trace()))
            wait_until(lambda: not sandbox.processes(), "the session is closed")
            bare.append(sandbox.time(PASS))
    note = f"{len(found)} times, 9 agents each and a commit; {_meanwhile(bare)}"
    yield Row(name="pipeline overhead", value=p50(found), unit="s", limit=3, note=note)


def quick_overhead(*, quick: bool) -> Iterator[Row]:
    """Measure the pipeline `quick`: from the start to the decision, with one check that passes.

    The check runs on the base, too, beside the coder.
    """
    scenario = {"default": {"think": _THINK_S}}
    check = "verify:\n- {name: tests, run: ['true'], timeout: 1m}\n"
    found: list[float] = []
    bare: list[float] = []
    with Sandbox(scenario, check) as sandbox:
        for number in range(2 if quick else 5):
            sandbox.trace_file.unlink(missing_ok=True)
            begun_s = time.time()
            name = f"run-{number}"
            session = sandbox.start("fix the typo", "--quick", "--name", name)
            wait_until(lambda: is_summed_up(session), "the summary is handed in")  # noqa: B023 (called at once)
            ended_s = unix_s(json.loads((session / "state.json").read_text())["updated_at"])
            found.append(ended_s - begun_s - _thinking_s(sandbox.trace()))
            sandbox.run(AGENTMUX, "approve", session.name, "--yes")
            wait_until(lambda: not sandbox.processes(), "the session is closed")
            bare.append(sandbox.time(PASS))
    note = f"{len(found)} times, 3 agents and a check each; {_meanwhile(bare)}"
    yield Row(name="start --quick to decision", value=p50(found), unit="s", limit=1.5, note=note)


def is_summed_up(session: Path) -> bool:
    """Whether the session's summary is handed in, so that it waits for a decision."""
    return bool(json.loads((session / "state.json").read_text()).get("summary_submitted"))


def _thinking_s(trace: Sequence[Fields]) -> float:
    """Return for how many seconds at least one agent was in its scripted delay."""
    total = until = 0.0
    for line in trace:
        if line["did"] == "prompted":
            begun = line["at"] / NS
            total += max(0.0, begun + _THINK_S - max(begun, until))
            until = begun + _THINK_S
    return total
