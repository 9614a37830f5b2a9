"""The results of checks and reviews, and the fix that follows them, as the state records them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.records import FieldError, Json, from_fields, to_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one command of a check.

    Attributes:
        outcome: ``passed`` (exit status 0), ``failed`` (another exit status) or ``broken`` (the
            command could not run or did not end in time, so it says nothing about the code).
        status: The exit status; None if it is unknown, or if a Unix signal ended the command.
        signal: The number of that Unix signal; None if there was none.
        timed_out: Whether the command was ended because it exceeded its time limit.
        tree: The id of the files that the command ran on, as `events.ChecksBegan.tree`; empty if
            unknown.
        left: The id of the files after the command, if it changed files that git does not ignore;
            otherwise empty.
        required: Whether the check needs the command to pass; if not, the result is only reported.
        launch: The id of the launch whose exit record is the evidence.
        output: The end of the command's output, in readable form, if it did not pass; otherwise
            the one line of it that most likely says how much ran, or empty.
        skipped: Whether the user has skipped the command.
    """

    outcome: str
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    tree: str = ""
    left: str = ""
    required: bool = True
    launch: str = ""
    output: str = ""
    skipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseResult:
    """The result of a check or review, on the files as the last fix left them.

    Attributes:
        iteration: The iteration of the session to which the result belongs.
        tree: The id of the files that were checked or reviewed, as `events.ChecksBegan.tree`; empty
            if unknown.
        verdicts: For a review: ``pass`` or ``fail``, by the role of the reviewer.
        reviews: For a review: the parsed file of each reviewer, by role.
        checks: For a check: the result of each command, by name.
        outcome: ``passed``, ``failed``, ``capped`` (it failed, and no further fix is allowed), or
            empty while it is undecided.
    """

    iteration: int = 0
    tree: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    reviews: Mapping[str, Json] = field(default_factory=dict)
    checks: Mapping[str, CheckResult] = field(default_factory=dict)
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """The last fix of the current cycle.

    Attributes:
        sender: The check or review that asked for the fix (``from`` in the file); its folder
            contains the fix request. Empty if the fix is no longer about a result.
        iteration: 1 for the first fix of the cycle, whichever phase asked for it, 2 for the next,
            and so on; 0 if an older session does not record it.
        sent: How many fixes each check and review has asked for in this cycle, by phase.
        over: Whether the session went back to a phase before the fix, and no longer needs it.
    """

    sender: str
    iteration: int
    sent: Mapping[str, int] = field(default_factory=dict)
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChecks:
    """The results of the required commands on the base, the commit that the session started from.

    Attributes:
        path: The absolute path of the worktree in which the commands run, whether or not it was
            created; empty if there is to be none. It is removed when the commands have ended.
        commit: The commit that is checked out there.
        steps: The setup steps of this worktree: mappings with ``name``, ``run`` and ``timeout_s``.
        made: Whether the worktree was created.
        done: How many of the steps have succeeded.
        checks: The results of the commands so far, by name.
        finished: Whether the run is over, and its worktree was removed.
        because: Why the commands could not be run; empty if they could.
    """

    path: str
    commit: str
    steps: tuple[Json, ...] = ()
    made: bool = False
    done: int = 0
    checks: Mapping[str, CheckResult] = field(default_factory=dict)
    finished: bool = False
    because: str = ""


_ALWAYS: Final = frozenset({"path", "commit", "done"})


def base_fields(base: BaseChecks | None) -> dict[str, object] | None:
    """Return the results on the base as a mapping for ``state.json``; None if ``base`` is None.

    Its keys are the fields of `BaseChecks`. Fields that are empty or False are left out, except
    ``path``, ``commit`` and ``done``.
    """
    if base is None:
        return None
    checks = {name: _check_fields(each) for name, each in base.checks.items()}
    given: dict[str, object] = {**to_fields(base), "checks": checks}
    return {name: value for name, value in given.items() if value or name in _ALWAYS}


def base_from(value: object, where: str) -> BaseChecks | None:
    """Return the results on the base that `base_fields` wrote; None if ``value`` is None.

    Args:
        value: The field ``base_checks`` of a ``state.json``.
        where: Where it comes from; error messages begin with it.

    Raises:
        FieldError: ``value`` has another form.
    """
    if value is None:
        return None
    fields = _mapping(value, where)
    plain = {name: each for name, each in fields.items() if name != "checks"}
    base = from_fields(BaseChecks, plain, where=where)
    return replace(base, checks=_checks_from(fields, where))


def _checks_from(fields: Json, where: str) -> Mapping[str, CheckResult]:
    checks = _mapping(fields.get("checks", {}), f"{where}.checks")
    return {
        name: from_fields(CheckResult, _mapping(each, place), where=place)
        for name, each in checks.items()
        for place in (f"{where}.checks.{name}",)
    }


def result_fields(result: PhaseResult) -> dict[str, object]:
    """Return a result as a mapping for ``state.json`` and ``results.yaml``.

    Its keys are the fields of `PhaseResult`; empty ones but ``iteration`` are left out.
    """
    checks = {name: _check_fields(each) for name, each in result.checks.items()}
    given: dict[str, object] = {**to_fields(result), "checks": checks}
    return {name: value for name, value in given.items() if value or name == "iteration"}


def _check_fields(check: CheckResult) -> dict[str, object]:
    given = to_fields(check)
    unset = {"status": None, "signal": None, "tree": "", "left": "", "launch": "", "output": ""}
    kept = {name: value for name, value in given.items() if value != unset.get(name, ...)}
    if check.required:
        del kept["required"]
    for name in ("skipped", "timed_out"):
        if not kept[name]:
            del kept[name]
    return kept


def result_from(value: object, where: str) -> PhaseResult:
    """Return the result of a check or review that `result_fields` wrote.

    Args:
        value: The result, from a ``state.json`` or a ``results.yaml``.
        where: Where it comes from; error messages begin with it.

    Raises:
        FieldError: ``value`` has another form.
    """
    fields = _mapping(value, where)
    plain = {name: each for name, each in fields.items() if name not in {"checks", "reviews"}}
    reviews = _mapping(fields.get("reviews", {}), f"{where}.reviews")
    return replace(
        from_fields(PhaseResult, plain, where=where),
        reviews={name: _mapping(each, f"{where}.reviews.{name}") for name, each in reviews.items()},
        checks=_checks_from(fields, where),
    )


def results_fields(results: Mapping[str, PhaseResult]) -> dict[str, object]:
    """Return the results of phases as the mapping that ``state.json`` contains, by phase.

    Each value is what `result_fields` returns.
    """
    return {phase: result_fields(each) for phase, each in results.items()}


def results_from(value: object, where: str) -> Mapping[str, PhaseResult]:
    """Return the results of phases, by phase, that `results_fields` wrote.

    Args:
        value: The field ``results`` of a ``state.json``.
        where: Where it comes from; error messages begin with it.

    Raises:
        FieldError: ``value`` has another form.
    """
    fields = _mapping(value, where)
    return {phase: result_from(each, f"{where}.{phase}") for phase, each in fields.items()}


def fix_fields(fix: Fix | None) -> dict[str, object] | None:
    """Return a fix in the form of ``state.json``; None if ``fix`` is None.

    There, `Fix.sender` is called ``from``, and ``over`` is left out if it is False.
    """
    if fix is None:
        return None
    fields = {"from": fix.sender, "iteration": fix.iteration, "sent": dict(fix.sent)}
    return {**fields, "over": True} if fix.over else fields


def fix_from(value: object, where: str) -> Fix | None:
    """Return the fix that `fix_fields` wrote; None if ``value`` is None.

    Args:
        value: The field ``fix`` of a ``state.json``.
        where: Where it comes from; error messages begin with it.

    Raises:
        FieldError: ``value`` has another form.
    """
    if value is None:
        return None
    given = _mapping(value, where)
    sent = {
        name: each
        for name, each in _mapping(given.get("sent", {}), f"{where}.sent").items()
        if type(each) is int
    }
    renamed: dict[str, Any] = {
        "sender": given.get("from"),
        "iteration": given.get("iteration"),
        "over": given.get("over", False),
    }
    return replace(from_fields(Fix, renamed, where=where), sent=sent)


def _mapping(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise FieldError(f"{where} is not a mapping")
    return value
