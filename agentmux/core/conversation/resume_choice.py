"""Decide whether an agent's conversation comes back, and how the agent's pane comes up.

Pure. `choose_resume` checks the guards: conditions that must all hold for the conversation to come
back (`Native`). Otherwise the agent starts a new conversation (`Fresh`), and the result names the
first guard that does not hold. `plan_rung` then picks the best of four ways to fill the pane.
Source: docs/explanation/resume.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from agentmux.core.agents import environment
from agentmux.core.agents.runtime import Runtime, decode_runtime, update_of
from agentmux.core.agents.spec import BY_ID, CHECKPOINT, SESSION_ID, StrategyKind, is_session_ref
from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json
from agentmux.core.codec.times import time_of
from agentmux.core.config.settings import Policy, ResumeSettings
from agentmux.core.conversation.resume_record import (
    RESTART_FRESH,
    ResumeRecord,
    names_conversation,
    resolve_record,
)
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.names.conversations import NO_EARLIER
from agentmux.core.names.words.counts import format_count

# Most of an id that still tells conversations apart in a line of text.
_SHORT: Final = 8
_LONGEST_VALUE: Final = 40
_LONGEST_PATH: Final = 60


class Guard(StrEnum):
    """The conditions for a conversation to come back, in the order in which they are checked."""

    SWITCH = "switch"
    RECORD = "record"
    AGENT = "agent"
    HOST = "host"
    CWD = "cwd"
    HOME = "home"
    RUNTIME = "runtime"
    EPOCH = "epoch"
    REWOUND = "rewound"
    AMBIGUOUS = "ambiguous"
    CLAIM = "claim"
    AGE = "age"
    HEALTH = "health"


class CheckpointState(StrEnum):
    """The condition of the file that a resume opens; ``none`` if no such file is known."""

    OK = "ok"
    MISSING = "missing"
    CORRUPT = "corrupt"
    OTHER_MODEL = "other-model"
    NONE = "none"


class Rung(StrEnum):
    """How a seat's pane comes up, best first.

    ``native``: the agent with its conversation; ``fresh``: the agent with a new conversation;
    ``shell``: a shell for a person; ``screen``: just the last screen.
    """

    NATIVE = "native"
    FRESH = "fresh"
    SHELL = environment.SHELL
    SCREEN = "screen"


_UNRECORDED: Final = ResumeRecord(agent="", strategy=StrategyKind.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeFacts:
    """What is true now, on this host, of a seat and of the conversation in `SeatHistory.standing`.

    Attributes:
        agent: The name of the agent that plays the seat now.
        program: The base name of its program: its key in ``resume.commands``.
        home: The path of the agent's config home, or empty.
        runtime: The agent's program, as text (`runtime.encode_runtime`); empty if none was found.
        epoch: What the seat works on, in the form of `ResumeRecord.epoch`, with the digests that
            the files have now.
        now: The present time, with its zone.
        settings: How conversations are resumed.
        model: The model that the agent would have now; None for the agent's own choice.
        binds_model: Whether a conversation of this agent works with no other model than its first.
        home_exists: Whether the directory ``home`` exists; ignored if ``home`` is empty.
        strategies: The kinds of strategy that the agent has now; None if that is not known.
        probed: Whether the probe shows that the program can resume, by the kind of strategy; empty
            if it was not probed.
        runtime_problem: Why the probe failed; None if it did not.
        ambiguous: Whether another launch of the same agent ran in the same directory and home,
            beside the conversation or after it.
        claim_held_by: Who holds the conversation on this host, in words; None when nobody does.
        fresh_flag: Whether the user asked for a fresh start of this seat.
        checkpoint: The condition of the file that a resume opens.
    """

    agent: str
    program: str
    host: str
    cwd: str
    home: str
    runtime: str
    epoch: Json
    now: datetime
    settings: ResumeSettings
    model: str | None = None
    binds_model: bool = False
    home_exists: bool = True
    strategies: tuple[str, ...] | None = None
    probed: Mapping[str, bool] = field(default_factory=dict)
    runtime_problem: str | None = None
    ambiguous: bool = False
    claim_held_by: str | None = None
    fresh_flag: bool = False
    checkpoint: CheckpointState = CheckpointState.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """The conversation comes back.

    ``argv`` starts the agent and contains no prompt; ``env`` has the variables to set for it.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """The agent starts a new conversation with the full prompt.

    Attributes:
        reason: Why, in words.
        guard: The first guard that does not hold.
        warns: Whether to warn the user that the checkpoint, which should exist, cannot be used.
    """

    reason: str
    guard: Guard
    warns: bool = False


ResumeChoice: TypeAlias = Native | Fresh


# -- the guards ----------------------------------------------------------------------------------

GuardCheck: TypeAlias = Callable[[ResumeRecord, ResumeFacts], str | None]


def _first(checks: tuple[GuardCheck, ...], record: ResumeRecord, facts: ResumeFacts) -> str | None:
    return next((why for check in checks if (why := check(record, facts)) is not None), None)


def _switch(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if facts.fresh_flag or record.restart == RESTART_FRESH:
        return "a fresh start was asked for"
    if not facts.settings.native:
        return "`resume.native` is off"
    if facts.settings.policy == Policy.NEVER:
        return "the resume policy is `never`"
    return _words_off(facts)


def _words_off(facts: ResumeFacts) -> str | None:
    """Return why the arguments of ``resume.commands`` cannot resume anything; None if they can."""
    name, commands = facts.program, facts.settings.commands
    if name not in commands or facts.strategies != ():
        return None
    if commands[name]:
        return f"`resume.commands.{name}` needs a conversation id, and `{facts.agent}` has none"
    return f"`resume.commands.{name}` is empty, so nothing is resumed"


def _stayed_behind(record: ResumeRecord, _: ResumeFacts) -> str | None:
    if not record.moved_from:
        return None
    return (
        f"the session was imported from `{_shorten(record.moved_from)}`, its conversation was not"
    )


def _is_recorded(record: ResumeRecord, _: ResumeFacts) -> str | None:
    if record.kind is StrategyKind.NONE:
        return "no conversation was recorded"
    if record.resume_argv:
        return None
    if record.strategy == StrategyKind.LEARN:
        return "the id of its conversation was never learned"
    return "no command that resumes its conversation was recorded"


def _was_reached(record: ResumeRecord, _: ResumeFacts) -> str | None:
    return None if record.reached else "no prompt had reached its last conversation"


def _is_sure(record: ResumeRecord, _: ResumeFacts) -> str | None:
    return "the id of its conversation is unsure" if record.unsure else None


def _is_named(record: ResumeRecord, _: ResumeFacts) -> str | None:
    ref = record.session_ref
    if any(SESSION_ID in word or CHECKPOINT in word for word in record.resume_argv):
        return f"no value for {_find_placeholder(record)} in its resume command"
    if record.kind not in BY_ID:
        return None
    if ref is None or not is_session_ref(ref):
        return f"`{_shorten(ref)}` is not the id of a conversation"
    named = sum(names_conversation(word, ref) for word in record.resume_argv)
    return None if named == 1 else f"its resume command names the conversation {_times(named)}"


def _find_placeholder(record: ResumeRecord) -> str:
    return SESSION_ID if any(SESSION_ID in word for word in record.resume_argv) else CHECKPOINT


def _has_checkpoint(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    name = _tail(record.checkpoint) if record.checkpoint else "of the conversation"
    match facts.checkpoint:
        case CheckpointState.MISSING:
            return f"the checkpoint {name} is missing"
        case CheckpointState.CORRUPT:
            return f"the checkpoint {name} is corrupt"
        case CheckpointState.OTHER_MODEL:
            return f"the checkpoint {name} was made with another model"
        case CheckpointState.NONE if record.kind is StrategyKind.CHECKPOINT:
            return "no checkpoint was left"
        case _:
            return None


_RECORD_CHECKS: Final[tuple[GuardCheck, ...]] = (
    _stayed_behind,
    _is_recorded,
    _was_reached,
    _is_sure,
    _is_named,
    _has_checkpoint,
)


def _record(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    return _first(_RECORD_CHECKS, record, facts)


def _agent(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if record.agent != facts.agent:
        return f"the seat was played by `{record.agent}`, now it is `{facts.agent}`"
    if not facts.binds_model or record.model == facts.model:
        return None
    then, now = record.model or "the default", facts.model or "the default"
    return f"the conversation belongs to model `{then}`, now it is `{now}`"


def _host(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if record.host == facts.host:
        return None
    return f"recorded on host `{record.host}`, this is `{facts.host}`"


def _cwd(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if record.cwd == facts.cwd:
        return None
    return f"recorded in the directory `{record.cwd}`, this is `{facts.cwd}`"


def _home(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if record.home != facts.home:
        return f"recorded with the config home `{record.home}`, now it is `{facts.home}`"
    gone = facts.home and not facts.home_exists
    return f"the config home `{facts.home}` is gone" if gone else None


def _runtimes(record: ResumeRecord, facts: ResumeFacts) -> tuple[Runtime, Runtime]:
    command = next(iter(record.launch_argv), "")
    return decode_runtime(record.runtime, command), decode_runtime(facts.runtime, command)


def _runtime(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if not facts.runtime and record.runtime:
        return f"no program answers as `{record.agent}`"
    then, now = _runtimes(record, facts)
    if not then.is_same_program(now):
        return f"another program answers: `{then.name}` then, `{now.name}` now"
    if facts.strategies is not None and record.strategy not in facts.strategies:
        return f"`{record.agent}` is not resumed by `{record.strategy}` any more"
    if facts.probed.get(record.strategy) is False:
        unseen = "the installed program does not show that it can resume"
        return f"{unseen}: {facts.runtime_problem}" if facts.runtime_problem else unseen
    return None


def _epoch(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    then, now = record.epoch, facts.epoch
    changes = ", ".join(epoch_differences(then, now))
    return (changes if same_work(then, now) else f"the earlier one was for {changes}") or None


def _check_rewind(record: ResumeRecord, _: ResumeFacts) -> str | None:
    if not record.rewound:
        return None
    return f"it went on after work-tree checkpoint {record.rewound}, to which the files went back"


def _ambiguous(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    if record.kind is not StrategyKind.CONTINUE or not facts.ambiguous:
        return None
    return (
        f"`{record.agent}` ran beside it or since in the same directory and home, "
        "so its latest conversation may be another one"
    )


def _claim(_: ResumeRecord, facts: ResumeFacts) -> str | None:
    if facts.claim_held_by is None:
        return None
    return f"the conversation is in use by {facts.claim_held_by or 'another pane'} on this host"


def _age(record: ResumeRecord, facts: ResumeFacts) -> str | None:
    captured = time_of(record.captured_at)
    if captured is None:
        return "no time was recorded"
    age_s = (facts.now - captured).total_seconds()
    if age_s <= facts.settings.max_age_s:
        return None
    return f"recorded {_span(age_s)} ago, `resume.max_age` is {_span(facts.settings.max_age_s)}"


def _health(record: ResumeRecord, _: ResumeFacts) -> str | None:
    return "the agent has rejected this conversation before" if record.rejected else None


GUARDS: Final[tuple[tuple[Guard, GuardCheck], ...]] = (
    (Guard.SWITCH, _switch),
    (Guard.RECORD, _record),
    (Guard.AGENT, _agent),
    (Guard.HOST, _host),
    (Guard.CWD, _cwd),
    (Guard.HOME, _home),
    (Guard.RUNTIME, _runtime),
    (Guard.EPOCH, _epoch),
    (Guard.REWOUND, _check_rewind),
    (Guard.AMBIGUOUS, _ambiguous),
    (Guard.CLAIM, _claim),
    (Guard.AGE, _age),
    (Guard.HEALTH, _health),
)


def choose_resume(history: SeatHistory, facts: ResumeFacts | None) -> ResumeChoice:
    """Decide whether the seat's conversation comes back; never raises.

    The conversation is that of the record ``history.standing``, and ``facts`` are about it; they
    are None if there is no earlier conversation.
    """
    if facts is None:
        return Fresh(reason=NO_EARLIER, guard=Guard.RECORD)
    standing = history.standing or _UNRECORDED
    then, now = _runtimes(standing, facts)
    update, record = update_of(then, now), resolve_record(standing)
    for guard, check in GUARDS:
        why = check(record, facts)
        if why is not None:
            return Fresh(reason=why, guard=guard, warns=why == _has_checkpoint(record, facts))
    reason = (
        f"{_conversation(record)} got {format_count(record.reached, 'prompt')}; every check passed"
    )
    if history.standing is not history.record:
        reason += "; a later attempt, which no prompt reached, does not count"
    noted = f"{reason} ({update})" if update else reason
    return Native(argv=record.resume_argv, env=record.env, reason=noted)


def same_work(recorded: Json, now: Json) -> bool:
    """Whether two epochs (`ResumeRecord.epoch`) are about the same work.

    That is: the same phase, cycle, iteration and sub-plan. The files in the epochs may differ.
    """
    return all(recorded.get(name) == now.get(name) for name, _ in _EPOCH)


def epoch_differences(recorded: Json, now: Json) -> tuple[str, ...]:
    """Return how an earlier epoch (`ResumeRecord.epoch`) differs from the one now, in words.

    Empty if nothing has changed since the launch prompt. If the work is another (`same_work`): what
    the earlier one was, such as ``cycle 1``. Else: what became of each file in ``recorded``.
    """
    places = tuple(
        f"{word} {_shorten(recorded.get(name))}"
        for name, word in _EPOCH
        if recorded.get(name) != now.get(name)
    )
    if places:
        return places
    then_files, now_files = _files(recorded), _files(now)
    changed = ((path, _file_change(then, now_files.get(path))) for path, then in then_files.items())
    return tuple(f"{_tail(path)} {change}" for path, change in changed if change)


_EPOCH: Final = (
    ("phase", "phase"),
    ("cycle", "cycle"),
    ("iteration", "iteration"),
    ("subplan", "sub-plan"),
)


def _files(epoch: Json) -> Json:
    files = epoch.get("files")
    return files if isinstance(files, Mapping) else {}


def _file_change(then: object, now: object) -> str:
    if (then or None) == (now or None):
        return ""
    if not now:
        return "is gone since the prompt"
    return "changed since the prompt" if then else "came after the prompt"


# -- the ladder ----------------------------------------------------------------------------------


def plan_rung(
    choice: ResumeChoice,
    *,
    is_person: bool,
    missing: str,
    failed: bool,
    shell: str,
    has_shell: bool,
) -> tuple[Rung, str]:
    """Return the best way for a seat's pane to come up, and why.

    Args:
        choice: Whether the conversation comes back.
        is_person: Whether a person plays the seat.
        missing: The agent's program, if it is not installed; else empty.
        failed: Whether the program could not be run at the seat's last fresh start.
        shell: The user's shell.
        has_shell: Whether that program exists.
    """
    if is_person:
        return Rung.SHELL, "you play this role"
    if not missing and isinstance(choice, Native):
        return Rung.NATIVE, choice.reason
    if not missing and not failed:
        return Rung.FRESH, choice.reason
    why = "its fresh start failed" if failed else f"no program `{missing}`"
    return (Rung.SHELL, why) if has_shell else (Rung.SCREEN, f"{why}, and no shell `{shell}`")


# -- words ---------------------------------------------------------------------------------------


def _conversation(record: ResumeRecord) -> str:
    if record.kind in BY_ID and record.session_ref:
        return f"conversation {_shorten(record.session_ref, _SHORT)}"
    if record.kind is StrategyKind.CHECKPOINT:
        return "the conversation of the checkpoint"
    return "the latest conversation"


def _shorten(value: object, longest: int = _LONGEST_VALUE) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= longest else text[:longest] + "…"


def _tail(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else "…" + path[-_LONGEST_PATH:]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _span(seconds: float) -> str:
    for unit_s, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit_s:
            count = f"{seconds / unit_s:.1f}".removesuffix(".0")
            return f"{count} {unit}" + ("" if count == "1" else "s")
    return f"{seconds:g} s"
