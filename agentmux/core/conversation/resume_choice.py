"""Decide whether an agent resumes its conversation, and what its pane runs.

Pure. `choose_resume` checks the guards: conditions that must all hold for the conversation to be
resumed (`Native`). Otherwise the agent starts a new conversation (`Fresh`), and the result names
the first guard that does not hold. `plan_rung` then picks the best of four things that the pane can
run. Source: docs/explanation/resume.md.
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

# How many characters of a conversation's id are shown; they suffice to tell conversations apart.
_SHORT: Final = 8
_LONGEST_VALUE: Final = 40
_LONGEST_PATH: Final = 60


class Guard(StrEnum):
    """The conditions for resuming a conversation, in the order in which they are checked.

    *switch*: nobody asked for a new conversation. *record*: the record allows it. *agent*: the
    agent is the same as recorded, and so is its model if the conversation is bound to that. *host*,
    *cwd*, *home*: they are the same as recorded. *runtime*: the program is the same, and can
    resume. *epoch*: the work is the same, and the files in its prompt have not changed. *rewound*:
    the files were not rewound. *ambiguous*: the latest conversation is surely this one. *claim*:
    nobody else uses it. *age*: it is not too old. *health*: the agent has not rejected it.
    """

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
    """The state of the checkpoint: the file from which the agent would resume its conversation.

    ``ok``: it can be used; ``missing`` or ``corrupt``: it should be there, but cannot be used;
    ``other-model``: it was made with another model; ``none``: no such file is known.
    """

    OK = "ok"
    MISSING = "missing"
    CORRUPT = "corrupt"
    OTHER_MODEL = "other-model"
    NONE = "none"


class PaneStart(StrEnum):
    """What the pane of a seat is started with, best first.

    ``native``: the agent with its resumed conversation; ``fresh``: the agent with a new
    conversation; ``shell``: a shell for a person; ``screen``: only the last screen.
    """

    NATIVE = "native"
    FRESH = "fresh"
    SHELL = environment.SHELL
    SCREEN = "screen"


_UNRECORDED: Final = ResumeRecord(agent="", strategy=StrategyKind.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeFacts:
    """The current facts, on this host, that decide whether a seat's conversation is resumed.

    The conversation is the one that `SeatHistory.deciding_record` records.

    Attributes:
        agent: The name of the agent that plays the seat now.
        program: The base name of the agent's program: its key in ``resume.commands``.
        host: The name of this host.
        cwd: The real path of the directory in which the agent would run.
        home: The path of the agent's config home, or empty.
        runtime: The agent's program, as text (`runtime.encode_runtime`); empty if none was found.
        epoch: What the seat works on: ``phase``, ``cycle``, ``iteration``, ``subplan``, and
            ``files``, which maps each path in the prompt to the file's current SHA-256.
        now: The current time, with its time zone.
        settings: How conversations are resumed.
        model: The model that the agent would have now; None if the agent chooses.
        binds_model: Whether a conversation of this agent can be resumed only with the model that it
            began with.
        home_exists: Whether the directory ``home`` exists; ignored if ``home`` is empty.
        strategies: The kinds of strategy that the agent has now; None if that is not known.
        probed: Maps each kind of strategy to whether the probe shows that the program supports it;
            empty if the program was not probed.
        runtime_problem: Why the probe failed; None if it did not.
        ambiguous: Whether another launch of the same agent ran in the same directory and home at
            the same time as the conversation, or after it.
        claim_held_by: A description of who uses the conversation on this host; empty if it is not
            known who; None if nobody does.
        fresh_flag: Whether the user asked for a fresh start of this seat.
        checkpoint: The state of the file from which the conversation would be resumed.
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
    """The choice to resume the conversation.

    Attributes:
        argv: The argv that resumes the conversation, without a prompt.
        env: The environment variables to set for the agent.
        reason: Why the conversation is resumed, for people.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """The choice to start a new conversation with the full prompt.

    Attributes:
        reason: Why the earlier conversation is not resumed, for people.
        guard: The first guard that does not hold.
        warns: Whether to warn the user that the checkpoint, which should exist, cannot be used.
    """

    reason: str
    guard: Guard
    warns: bool = False


ResumeChoice: TypeAlias = Native | Fresh


# -- the guards ----------------------------------------------------------------------------------

GuardCheck: TypeAlias = Callable[[ResumeRecord, ResumeFacts], str | None]
"""A function that returns why a guard does not hold, for people; None if it holds."""


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
    """Return why the configured ``resume.commands`` cannot resume anything; None if they can."""
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
"""The guards with their checks, in the order in which they are checked."""


def choose_resume(history: SeatHistory, facts: ResumeFacts | None) -> ResumeChoice:
    """Decide whether a seat's agent resumes its conversation; never raises.

    Args:
        history: The earlier launches of the seat. The conversation is the one that
            ``history.deciding_record`` records.
        facts: The current facts about that conversation; None if there is no earlier conversation.

    Returns:
        `Native` if all guards hold, else `Fresh` with the first guard that does not hold. Without
        an earlier conversation, that guard is `Guard.RECORD`.
    """
    if facts is None:
        return Fresh(reason=NO_EARLIER, guard=Guard.RECORD)
    standing = history.deciding_record or _UNRECORDED
    then, now = _runtimes(standing, facts)
    update, record = update_of(then, now), resolve_record(standing)
    for guard, check in GUARDS:
        why = check(record, facts)
        if why is not None:
            return Fresh(reason=why, guard=guard, warns=why == _has_checkpoint(record, facts))
    reason = (
        f"{_conversation(record)} got {format_count(record.reached, 'prompt')}; every check passed"
    )
    if history.deciding_record is not history.record:
        reason += "; a later attempt, which no prompt reached, does not count"
    noted = f"{reason} ({update})" if update else reason
    return Native(argv=record.resume_argv, env=record.env, reason=noted)


def same_work(recorded: Json, now: Json) -> bool:
    """Whether a recorded epoch (`ResumeRecord.epoch`) and the current one are about the same work.

    Their phase, cycle, iteration and sub-plan must be equal; their files may differ.
    """
    return all(recorded.get(name) == now.get(name) for name, _ in _EPOCH)


def epoch_differences(recorded: Json, now: Json) -> tuple[str, ...]:
    """Return descriptions of how a recorded epoch (`ResumeRecord.epoch`) differs from the current.

    If the work is not the same (see `same_work`), they name the recorded values that differ, such
    as ``cycle 1``. Otherwise they name the changed files of ``recorded``, such as ``plan.md changed
    since the prompt``. Empty if nothing has changed since the launch prompt.
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
) -> tuple[PaneStart, str]:
    """Return the best `PaneStart` that is possible for a seat's pane, and the reason for people.

    It starts nothing.

    Args:
        choice: Whether the agent would resume its conversation, as `choose_resume` returns it.
        is_person: Whether a person plays the seat.
        missing: The name of the agent's program if it is not installed; empty if it is.
        failed: Whether the program could not be run at the seat's last fresh start.
        shell: The path of the user's shell.
        has_shell: Whether ``shell`` exists.
    """
    if is_person:
        return PaneStart.SHELL, "you play this role"
    if not missing and isinstance(choice, Native):
        return PaneStart.NATIVE, choice.reason
    if not missing and not failed:
        return PaneStart.FRESH, choice.reason
    why = "its fresh start failed" if failed else f"no program `{missing}`"
    return (
        (PaneStart.SHELL, why)
        if has_shell
        else (PaneStart.SCREEN, f"{why}, and no shell `{shell}`")
    )


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
