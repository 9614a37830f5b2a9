"""What checks and reviews have found, and the fix that follows, as the state holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.records import FieldError, Json, from_fields, to_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one command of a check has shown.

    Attributes:
        outcome: ``passed`` (exit status 0), ``failed`` (another one), or ``broken``: it could not
            run, or did not end in time, and so says nothing of the code.
        status: The exit status; None if a Unix signal ended the command, or nothing is known.
        signal: The number of that Unix signal, or None.
        timed_out: Whether it was ended because it took longer than it may.
        tree: The id of the files that the command ran on; empty if unknown.
        left: The id of the files after it, if it has changed some that git does not ignore.
        required: Whether the check needs it; else it is only reported.
        launch: The launch whose exit record is the evidence.
        output: The end of what a command wrote that did not pass, cleaned for people; else empty.
        skipped: Whether the user went on without it.
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
    """What a check or a review has found since the last fix that it looks at.

    Attributes:
        iteration: The iteration of the session in which it was found.
        tree: The id of the files that were looked at; empty if unknown.
        verdicts: Of a review: ``pass`` or ``fail``, by the role of the reviewer.
        reviews: Of a review: the parsed file of each reviewer, by role.
        checks: Of a check: what each command has shown, by its name.
        outcome: ``passed``, ``failed``, ``capped`` (it failed, and no further fix is allowed), or
            empty while it is open.
    """

    iteration: int = 0
    tree: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    reviews: Mapping[str, Json] = field(default_factory=dict)
    checks: Mapping[str, CheckResult] = field(default_factory=dict)
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """The last fix of the present cycle.

    Attributes:
        sender: The check or review that asked for it (``from`` in the file); its folder has the
            fix request.
        iteration: 1 for the first fix of the cycle, whoever asked for it, and so on; 0 if an older
            session does not say.
        sent: How many fixes each check and review has asked for in this cycle.
        over: Whether the session went back to a phase before it, and so no longer needs it.
    """

    sender: str
    iteration: int
    sent: Mapping[str, int] = field(default_factory=dict)
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChecks:
    """What the required commands show on the files on which the session began.

    Attributes:
        path: The top of the worktree in which they run; it is removed when they have ended.
        commit: What it shows.
        steps: What prepares it, as `state.Setup` has it.
        made: Whether the worktree exists.
        done: How many of the steps have succeeded.
        checks: What the commands have shown so far, by name.
        finished: Whether all is done there, and the worktree is removed.
        because: Why the commands could not be run there; empty where they were.
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
    """Return what was found on the base as ``state.json`` has it; None for None."""
    if base is None:
        return None
    checks = {name: _check_fields(each) for name, each in base.checks.items()}
    given: dict[str, object] = {**to_fields(base), "checks": checks}
    return {name: value for name, value in given.items() if value or name in _ALWAYS}


def base_from(value: object, where: str) -> BaseChecks | None:
    """Return what `base_fields` returned.

    Raises:
        FieldError: ``value`` holds something else.
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
    """Return a result as ``state.json`` and ``results.yaml`` have it; empty fields are absent."""
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
    """Return the result that `result_fields` returned.

    Raises:
        FieldError: ``value`` is not such a result. The message names ``where``, its place.
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
    """Return results by phase as ``state.json`` has them."""
    return {phase: result_fields(each) for phase, each in results.items()}


def results_from(value: object, where: str) -> Mapping[str, PhaseResult]:
    """Return results by phase; the inverse of `results_fields`.

    Raises:
        FieldError: ``value`` holds something else.
    """
    fields = _mapping(value, where)
    return {phase: result_from(each, f"{where}.{phase}") for phase, each in fields.items()}


def fix_fields(fix: Fix | None) -> dict[str, object] | None:
    """Return a fix as ``state.json`` has it."""
    if fix is None:
        return None
    fields = {"from": fix.sender, "iteration": fix.iteration, "sent": dict(fix.sent)}
    return {**fields, "over": True} if fix.over else fields


def fix_from(value: object, where: str) -> Fix | None:
    """Return the fix that `fix_fields` returned.

    Raises:
        FieldError: ``value`` is not such a fix.
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
