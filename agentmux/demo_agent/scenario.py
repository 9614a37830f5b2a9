"""Reads the scenario file, which says how the offline agent behaves in each seat and launch.

Its format is described in docs/reference/demo-agent.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from agentmux.demo_agent.errors import WrongArgvError
from agentmux.demo_agent.seat import OwnSeat


class Behaviour(NamedTuple):
    """How the agent behaves in one launch of one seat.

    The fields are the keys of the scenario file (docs/reference/demo-agent.md). With all defaults,
    the agent does its work correctly.

    Attributes:
        think: How many seconds the agent shows that it is busy before the work of each turn.
        banner_delay: How many seconds it waits before its first output.
        write: The quality of the artifacts: ``ok``, ``wrong-first``, ``wrong``, ``none`` or
            ``half``; ``wrong-first`` and ``half`` are corrected after a refusal.
        submit: Whether to give the signals: ``yes``, ``no``, ``twice``, ``when-told`` (at the next
            message) or ``killed`` (the first command is killed, then as ``when-told``).
        verdict: The verdict of a review: ``pass`` or ``fail``.
        summary: The text, or the summary, in artifacts; None for a made-up one.
        findings: The findings of a review, with the keys that `drafts.finding` returns; None for
            one made-up finding if the review fails.
        commit_message: The commit message in a review that passes; None for none.
        reviewers: The reviewers that the architect nominates; None for ``logic`` alone.
        plan: The content of ``plan.yaml``, or its short form (`drafts.whole_plan`); None for a
            made-up plan.
        files: The text of the code files to write, by path; None for made-up ones.
        crash: Where the agent ends without finishing: ``before_write``, ``after_write``,
            ``before_signal`` or ``after_signal``; None for nowhere.
        exit: The exit code of a crash.
        kill: The number of the signal that ends the agent at a crash; None to exit instead.
        once: Whether to crash only the first time for a seat, cycle and iteration.
        dialog: The dialog to show: ``trust`` (once per folder), ``permission`` (before each
            command), ``unknown`` (before the first prompt) or ``none``.
        flood: How many lines to print before the work.
        silent: Whether to do nothing with messages; ``until-told`` does the work at the next one.
        ignore_hup: Whether to ignore SIGHUP, and so outlive the terminal.
        limit: Whether to answer every message with the line about a usage limit; a number does so
            for that many seconds from the first message.
        research: The topics to ask for, each with ``kind`` (``code`` or ``web``), ``topic`` and
            optionally ``args``, a list with the words of the question; None for none.
    """

    think: float = 0.0
    banner_delay: float = 0.0
    write: str = "ok"
    submit: str = "yes"
    verdict: str = "pass"
    summary: str | None = None
    findings: list[dict[str, str]] | None = None
    commit_message: str | None = None
    reviewers: list[str] | None = None
    plan: dict[str, Any] | None = None
    files: dict[str, str] | None = None
    crash: str | None = None
    exit: int = 1
    kill: int | None = None
    once: bool = False
    dialog: str = "none"
    flood: int = 0
    silent: bool | str = False
    ignore_hup: bool = False
    limit: bool | float = False
    research: list[dict[str, Any]] | None = None


_CHOICES: Final = {
    "write": ("ok", "wrong-first", "wrong", "none", "half"),
    "submit": ("yes", "no", "twice", "when-told", "killed"),
    "verdict": ("pass", "fail"),
    "crash": ("before_write", "after_write", "before_signal", "after_signal"),
    "dialog": ("trust", "permission", "unknown", "none"),
    "silent": (True, False, "until-told"),
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "think": (int, float), "banner_delay": (int, float), "summary": (str,), "findings": (list,),
    "commit_message": (str,), "reviewers": (list,), "plan": (dict,), "files": (dict,),
    "exit": (int,), "kill": (int,), "once": (bool,), "flood": (int,), "ignore_hup": (bool,),
    "limit": (bool, int, float), "research": (list,),
}  # fmt: skip
_TOP: Final = frozenset({"default", "roles", "seats"})
_WHEN: Final = frozenset({"cycle", "iteration", "launch"})


def load(path: str | None) -> dict[str, Any]:
    """Return the content of a scenario file after checking it; empty if ``path`` is None or empty.

    The content may have the keys ``default`` (a mapping with fields of `Behaviour` and with
    ``attempts``), and ``roles`` and ``seats`` (such mappings, by the name of the role or seat).

    A ``.json`` file is read without the YAML library, which is slow to import.

    Raises:
        WrongArgvError: The file cannot be read, or has an unknown key or an invalid value.
    """
    if not path:
        return {}
    try:
        data = _parse(path, Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongArgvError(f"Error: scenario {path}: {error}") from error
    return _check(path, data)


def behaviour_of(scenario: dict[str, Any], seat: OwnSeat, launch: int) -> Behaviour:
    """Return how the agent behaves in one launch of a seat.

    The scenario's ``default`` is applied first, then its part for the role, then its part for the
    seat. Each of the three may list ``attempts``, each with a mapping ``when``. An attempt is
    applied, after the rest of that part, if every ``cycle``, ``iteration`` or ``launch`` in its
    ``when`` equals that of this launch. Later values replace earlier ones.

    Args:
        scenario: The content of a scenario file, as `load` returned it; empty for the defaults.
        seat: The seat.
        launch: The number of the seat's launch, from 1.
    """
    values: dict[str, Any] = {}
    attempt = {"cycle": seat.cycle, "iteration": seat.iteration, "launch": launch}
    blocks = (
        scenario.get("default"),
        (scenario.get("roles") or {}).get(seat.role),
        (scenario.get("seats") or {}).get(seat.seat),
    )
    for block in blocks:
        for part in _matching(block or {}, attempt):
            values.update(part)
    return Behaviour()._replace(**values)


def _matching(block: dict[str, Any], attempt: dict[str, int]) -> list[dict[str, Any]]:
    parts = [{key: value for key, value in block.items() if key != "attempts"}]
    return parts + [
        {key: value for key, value in part.items() if key != "when"}
        for part in block.get("attempts") or ()
        if all(attempt[key] == value for key, value in part["when"].items())
    ]


def _parse(path: str, text: str) -> object:
    if path.endswith(".json"):
        return json.loads(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check(path: str, data: object) -> dict[str, Any]:
    if data is None:
        return {}
    top = _mapping(path, "the file", data, _TOP)
    if "default" in top:
        _check_block(path, "default", top["default"])
    for kind in ("roles", "seats"):
        for name, block in _mapping(path, kind, top.get(kind) or {}, None).items():
            _check_block(path, f"{kind}.{name}", block)
    return top


def _check_block(path: str, where: str, block: object) -> None:
    known = frozenset(Behaviour._fields) | {"attempts"}
    for key, value in _mapping(path, where, block, known).items():
        if key == "attempts":
            _check_attempts(path, where, value)
        else:
            _check_value(path, f"{where}.{key}", key, value)


def _check_attempts(path: str, where: str, attempts: object) -> None:
    if not isinstance(attempts, list):
        raise WrongArgvError(f"Error: scenario {path}: {where}.attempts is not a list")
    for at, part in enumerate(attempts):
        here = f"{where}.attempts[{at}]"
        fields = _mapping(path, here, part, frozenset(Behaviour._fields) | {"when"})
        when = _mapping(path, f"{here}.when", fields.get("when"), _WHEN)
        if not when or not all(isinstance(value, int) for value in when.values()):
            raise WrongArgvError(f"Error: scenario {path}: {here}.when needs whole numbers")
        for key, value in fields.items():
            if key != "when":
                _check_value(path, f"{here}.{key}", key, value)


def _check_value(path: str, where: str, key: str, value: object) -> None:
    if key in _CHOICES:
        choices = _CHOICES[key]
        if value not in choices:
            alternatives = ", ".join(str(choice) for choice in choices)
            raise WrongArgvError(f"Error: scenario {path}: {where} must be one of {alternatives}")
    elif not isinstance(value, _TYPES[key]):
        raise WrongArgvError(f"Error: scenario {path}: {where} has a value of the wrong type")


def _mapping(path: str, where: str, data: object, known: frozenset[str] | None) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise WrongArgvError(f"Error: scenario {path}: {where} is not a map")
    for key in data:
        if known is not None and key not in known:
            raise WrongArgvError(f"Error: scenario {path}: unknown key `{key}` in {where}")
    return data
