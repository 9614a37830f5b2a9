"""Shows the results of a session's checks to users, to programs and to reviewers."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.checks.report import (
    FINDS_TESTS,
    NOTHING_VERIFIED,
    check_line,
    check_words,
    phase_lines,
)
from agentmux.core.checks.verdict import all_required_passed
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Expect, Kind, PhaseDefinition
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.core.names.statuses import CAPPED, PASSED
from agentmux.core.pipeline.check_phase import failed_on_base, trees_of


def verified_lines(state: SessionState, *, tail: int = 0) -> tuple[str, ...]:
    """Return the results of all checks as lines for the user, each with the command that ran.

    A command that did not pass is followed by the last ``tail`` lines of its output.

    If there are no results, the only line says that nothing was verified; if the session has no
    check commands, that line also names the command that finds some. Without results, a session
    whose result is a report has no line at all.
    """
    red = failed_on_base(state)
    expects = {each.phase: each.expect for each in _phases(state)}
    run = _commands(state)
    lines = [
        line
        for phase, each in _results(state)
        for line in phase_lines(
            phase, each, expect=expects[phase], red_before=red, commands=run, tail=tail
        )
    ]
    if lines or state.is_report:
        return tuple(lines)
    return (NOTHING_VERIFIED if state.verify else FINDS_TESTS,)


def told_lines(state: SessionState) -> tuple[str, ...]:
    """Return one line for each check command with a result, for agents: its phase and result.

    An example is ``checking, tests: failed (exit 1)``.
    """
    red = failed_on_base(state)
    return tuple(
        f"{phase}, {check_words(name, check, red_before=red)}"
        for phase, result in _results(state)
        for name, check in result.checks.items()
    )


def verified_fields(state: SessionState) -> list[Json]:
    """Return the results of all checks for ``status --json``: a mapping for each check that began.

    They are in the order of the phases. The keys are ``phase``, ``iteration``, ``outcome`` (None
    while it is undecided) and ``commands``: a list with a mapping for each command that has ended.
    The keys of that are ``name``; ``outcome``, ``status``, ``signal``, ``timed_out``, ``required``,
    ``skipped`` and ``output``, as in `CheckResult`; ``failed_before`` (whether the command failed
    on the base, the commit that the session began on); and ``says`` (the result in words, with the
    command that ran).
    """
    red, run = failed_on_base(state), _commands(state)
    return [
        {
            "phase": phase,
            "iteration": result.iteration,
            "outcome": result.outcome or None,
            "commands": [
                {
                    "name": name,
                    "outcome": check.outcome,
                    "status": check.status,
                    "signal": check.signal,
                    "timed_out": check.timed_out,
                    "required": check.required,
                    "skipped": check.skipped,
                    "failed_before": name in red,
                    "says": check_line(name, check, run, red_before=red),
                    "output": check.output,
                }
                for name, check in result.checks.items()
            ],
        }
        for phase, result in _results(state)
    ]


def checked_trees(state: SessionState) -> frozenset[str]:
    """Return the tree ids of the files that the last check ran on, whether it passed or failed.

    There are several ids if its commands changed files: one of the files when the check began, and
    one of what each command left. The last check is the last one in the pipeline that has a result
    and expects its commands to pass; empty if there is none, or if no id is known.
    """
    expects = {each.phase: each.expect for each in _phases(state)}
    results = [each for phase, each in _results(state) if expects[phase] is Expect.PASS]
    return trees_of(results[-1]) if results else frozenset()


def is_proven(state: SessionState) -> bool:
    """Whether the result may be approved without the user.

    That needs a review that has passed, or a check that has passed in which all required commands,
    at least one, passed. No check or review may be ``capped``, i.e. have failed without a further
    fix being allowed.
    """
    if CAPPED in {each.outcome for each in state.results.values()}:
        return False
    return _has_review(state) or _has_check(state)


def _has_review(state: SessionState) -> bool:
    reviews = {each.phase for each in state.pipeline.phases if each.kind is Kind.REVIEW}
    return any(state.results[phase].outcome == PASSED for phase in reviews & state.results.keys())


def _has_check(state: SessionState) -> bool:
    """Whether a check that expects its commands to pass has passed, with a required command."""
    expects = {each.phase: each.expect for each in _phases(state)}
    return any(
        result.outcome == PASSED
        and expects[phase] is Expect.PASS
        and all_required_passed(result.checks)
        for phase, result in _results(state)
    )


def _results(state: SessionState) -> Iterator[tuple[str, PhaseResult]]:
    for each in _phases(state):
        if each.phase in state.results:
            yield each.phase, state.results[each.phase]


def _commands(state: SessionState) -> dict[str, tuple[str, ...]]:
    """Return the argv of each command that a check may run; a record that is not valid has none."""
    recorded = {str(each.get("name")): each.get("run") for each in state.verify}
    return {name: (*run,) for name, run in recorded.items() if isinstance(run, list | tuple)}


def _phases(state: SessionState) -> tuple[PhaseDefinition, ...]:
    return tuple(each for each in state.pipeline.phases if each.kind is Kind.CHECK)
