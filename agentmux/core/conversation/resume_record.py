"""The resume record of a seat: its fields, its decoding, and the placeholders in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentmux.core.agents.spec import CHECKPOINT, SESSION_ID, StrategyKind, is_session_ref
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.records import FieldError, Json, from_fields

_KINDS: Final = {kind.value: kind for kind in StrategyKind}
RESTART_FRESH: Final = "fresh"
"""The value of `ResumeRecord.restart` if the user chose to start a new conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRecord:
    """What a launch records so that its conversation can be resumed later.

    Attributes:
        agent: The agent's name in the registry; for a command as typed, the base name of its
            program.
        strategy: How the conversation is identified: a `StrategyKind`.
        launch_argv: The argv with which the agent was launched.
        resume_argv: The argv that resumes the conversation, without a prompt. It contains the id,
            or ``{session_id}`` while the id is not known; ``{checkpoint}`` stands for the path in
            ``checkpoint``. Empty if nothing can be resumed. See `resolve_record`.
        latest_argv: For *learn*: the argv that resumes the agent's latest conversation, for use
            while the id is unknown.
        session_ref: The conversation's current id; None while it is unknown.
        argv_ref: The id in ``resume_argv``; it differs from ``session_ref`` if the conversation
            has a new id since.
        env: The environment variables that determine which conversation is found, such as a config
            home.
        host: The name of the host on which the agent ran.
        boot: The boot id of that host at the time, which changes when it restarts; or empty.
        cwd: The real path of the directory that the agent ran in.
        home: The path of the agent's config home, or empty.
        runtime: The agent's program, as ``NAME VERSION FILE`` (`runtime.encode_runtime`); in a
            record of 0.1.0 only ``FILE``, which is ``PATH:SIZE:TIME``.
        model: The model that was given to the agent; None if the agent chose.
        epoch: What the conversation is about: ``phase``, ``cycle``, ``iteration``, ``subplan``, and
            ``files``, which maps each path in the launch prompt to the file's SHA-256 (empty if
            there was no such file).
        place: The work of the seat's last launch, by an agent or a person: ``phase``, ``cycle``,
            ``iteration`` and ``subplan``. Empty in a record of 0.1.0; its ``epoch`` says the same.
        handed_in: Whether that launch has handed in its work; absent from a record of 0.1.0.
        policy: The setting ``resume.policy`` at the launch; empty if it was not set.
        reached: How many of AgentMux's prompts are known to have arrived in the conversation.
        captured_at: When this was recorded (UTC, ISO 8601).
        unsure: Whether the agent may have switched to another conversation without reporting its
            id.
        rejected: Whether the agent refused to resume the conversation.
        launch: The id of the launch.
        checkpoint: The path of the file that holds the conversation; empty if there is none.
        restart: What the user chose when restarting the seat: ``fresh`` (a new conversation),
            ``resume`` (this one), or empty (as configured).
        rewound: The number of the work-tree checkpoint to which the files were rewound, although
            the conversation had gone on since; 0 if they were not.
        moved_from: The name of the host from which the session was imported after the launch,
            without the conversation; empty if it was not imported.
        previous: The seat's most recent earlier record whose conversation received a prompt and was
            not rejected by the agent, without that record's own ``previous``; None if there is
            none.
    """

    agent: str
    strategy: str
    launch_argv: tuple[str, ...] = ()
    resume_argv: tuple[str, ...] = ()
    latest_argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    session_ref: str | None = None
    argv_ref: str | None = None
    host: str = ""
    boot: str = ""
    cwd: str = ""
    home: str = ""
    runtime: str = ""
    model: str | None = None
    epoch: Json = field(default_factory=dict)
    policy: str = ""
    reached: int = 0
    captured_at: str = ""
    unsure: bool = False
    rejected: bool = False
    launch: str = ""
    checkpoint: str = ""
    restart: str = ""
    place: Json = field(default_factory=dict)
    handed_in: bool = False
    rewound: int = 0
    moved_from: str = ""
    previous: Json | None = None

    @property
    def kind(self) -> StrategyKind:
        """How the conversation can be identified now.

        That is ``strategy``, except that *learn* without an id counts as *continue*, and an unknown
        strategy as *none*.
        """
        kind = _KINDS.get(self.strategy, StrategyKind.NONE)
        if kind is StrategyKind.LEARN and self.session_ref is None:
            return StrategyKind.CONTINUE
        return kind


def decode_record(fields: object) -> ResumeRecord | None:
    """Return the record with these ``fields``; None if they are not a valid record. Never raises.

    Fields that are missing from an older record get their defaults; `choose_resume` then treats
    them as different from the current values.
    """
    if not isinstance(fields, Mapping):
        return None
    try:
        return from_fields(ResumeRecord, fields, where="resume record")
    except FieldError:
        return None


def resolve_record(record: ResumeRecord) -> ResumeRecord:
    """Return the record with the final ``resume_argv``, as it can be run now.

    The placeholders `SESSION_ID` and `CHECKPOINT` are replaced by their values; a placeholder
    without a value stays. If the conversation has a new id, the new id replaces the old one. For
    *learn* without an id, ``latest_argv`` is used. Resolving a record twice has no further effect.
    """
    if record.kind is StrategyKind.CONTINUE and record.strategy == StrategyKind.LEARN:
        return replace(record, resume_argv=record.latest_argv)
    places = {CHECKPOINT: record.checkpoint} if record.checkpoint else {}
    argv, argv_ref, ref = record.resume_argv, record.argv_ref, record.session_ref
    if ref is not None and is_session_ref(ref):
        places[SESSION_ID] = ref
        if argv_ref and argv_ref != ref:
            stale = _standing_alone(argv_ref)
            argv = tuple(stale.sub(lambda _: SESSION_ID, word) for word in argv)
        argv_ref = ref
    argv = _fill_argv(argv, places)
    if (argv, argv_ref) == (record.resume_argv, record.argv_ref):
        return record
    return replace(record, resume_argv=argv, argv_ref=argv_ref)


def _fill_argv(argv: tuple[str, ...], places: Mapping[str, str]) -> tuple[str, ...]:
    if not any(place in word for place in places for word in argv):
        return argv
    # One pass, so that a placeholder inside a value is not replaced.
    place = re.compile("|".join(map(re.escape, places)))
    return tuple(place.sub(lambda found: places[found[0]], word) for word in argv)


def names_conversation(word: str, ref: str) -> bool:
    """Whether ``word``, one element of an argv, contains the complete conversation id ``ref``.

    The id may be the whole word, a value after ``=``, or a file name in a path, but not a part of a
    longer id.
    """
    return word == ref or (ref in word and _standing_alone(ref).search(word) is not None)


def _standing_alone(ref: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9._:-]){re.escape(ref)}(?![A-Za-z0-9_:-])")
