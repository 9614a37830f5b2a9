"""Runs the checks of `agentmux doctor` at the same time, each with a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from threading import Thread

from agentmux.app.doctor.finding import DoctorFinding, problem, to_finding
from agentmux.errors import AgentmuxError, data_error_from

Check = Callable[[], Iterable[DoctorFinding]]
"""Returns the findings of one check; an `AgentmuxError` that it raises becomes its last finding."""


def examine(checks: Mapping[str, Check], limit_s: float) -> tuple[DoctorFinding, ...]:
    """Run all checks at the same time; return their findings in the order of ``checks``.

    ``checks`` has a function for each name of a check; the function returns findings. A check that
    takes longer than ``limit_s`` seconds counts as a problem and is abandoned: its daemon thread
    does not keep this process from ending.
    """
    running = {name: _start_check(name, check) for name, check in checks.items()}
    done, _ = wait(running.values(), timeout=limit_s)
    late = f"no answer within {limit_s:g} s"
    return tuple(
        finding
        for name, each in running.items()
        for finding in (each.result() if each in done else (problem(name, late),))
    )


def _start_check(name: str, check: Check) -> Future[tuple[DoctorFinding, ...]]:
    future: Future[tuple[DoctorFinding, ...]] = Future()

    def run() -> None:
        try:
            future.set_result(tuple(_run_check(name, check)))
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is taken)
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _run_check(name: str, check: Check) -> Iterator[DoctorFinding]:
    try:
        yield from check()
    except AgentmuxError as error:
        yield to_finding(name, error)
    except OSError as error:
        yield to_finding(name, data_error_from(error))
