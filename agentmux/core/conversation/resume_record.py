"""The resume record: its form, its decoding, and how its places are filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from agentmux.core.agents.spec import StrategyKind, is_session_ref
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.records import FieldError, Json, from_fields, to_fields

SESSION_ID: Final = "{session_id}"
CHECKPOINT: Final = "{checkpoint}"

_KINDS: Final = {kind.value: kind for kind in StrategyKind}
RESTART_FRESH: Final = "fresh"
"""What a record's ``restart`` says when the user does not want the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRecord:
    """What a launch leaves behind so that its conversation can be found again.

    Attributes:
        strategy: A `StrategyKind`.
        resume_argv: Without a prompt; holds the id, or ``{session_id}`` while that is not known
            (and ``{checkpoint}`` for the file named in ``checkpoint``). Empty when nothing
            resumes. See `resolved`.
        latest_argv: For *learn*: what resumes the latest conversation while the id is unknown.
        argv_ref: The id that stands in ``resume_argv``; ``session_ref`` may have moved on since.
        env: The variables that decide which conversation is found, such as a config home.
        cwd: Real path.
        home: Path of the config home, or empty.
        runtime: Which program it was; see `runtime.encode_runtime`.
        epoch: What the conversation is about: ``phase``, ``cycle``, ``iteration``, ``subplan``,
            and ``files`` (path named in the launch prompt to SHA-256; empty where it is absent).
        place: What the seat was last launched for, whoever plays it: ``phase``, ``cycle``,
            ``iteration`` and ``subplan``. Empty in a record of 0.1.0, whose epoch says it.
        handed_in: The signal of that launch was accepted; absent from a record of 0.1.0.
        reached: How often a prompt of ours is proven to have arrived in the conversation.
        captured_at: UTC, ISO 8601.
        unsure: It may have become another conversation, and nothing told us which.
        rejected: The agent refused it once.
        restart: What the user asked for when bringing the stopped seat back, or empty.
        previous: The seat's last record that was good, without one of its own.
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
    previous: Json | None = None


def decode_record(fields: object) -> ResumeRecord | None:
    """Return the record that ``fields`` describe, or None where they are none; never raises.

    An older record may lack fields; the guards treat what is missing as not matching.
    """
    if not isinstance(fields, Mapping):
        return None
    try:
        return from_fields(ResumeRecord, fields, where="resume record")
    except FieldError:
        return None


def standing_record(record: ResumeRecord | None) -> ResumeRecord | None:
    """Return the record that decides: this one, or ``previous`` where this one never reached.

    A failed attempt erases nothing, but what it found out stays: a conversation that it saw
    rejected stays rejected. Facts are to be gathered about what this returns.
    """
    if record is None or record.reached:
        return record
    before = decode_record(record.previous)
    if before is None or not before.reached:
        return record
    rejected = before.rejected or (record.rejected and _same_conversation(record, before))
    return replace(before, rejected=rejected, restart=record.restart, previous=None)


def restated(
    record: ResumeRecord, kind: StrategyKind, argv: Callable[[ResumeRecord], tuple[str, ...]]
) -> ResumeRecord:
    """Return ``record`` with other words that resume its `standing_record`: ``argv`` of that.

    All else stays as it was recorded; the words may hold places, as a record's do.
    """
    standing = standing_record(record) or record
    made = replace(
        standing,
        strategy=kind,
        resume_argv=argv(standing),
        latest_argv=(),
        argv_ref=standing.session_ref,
    )
    return made if standing is record else replace(record, previous=to_fields(made))


def next_previous(fields: object) -> Json | None:
    """Return what the next launch's record keeps as ``previous``, given the seat's record now."""
    record = decode_record(fields)
    if record is None or not isinstance(fields, Mapping):
        return None
    if record.reached and not record.rejected:
        return {key: value for key, value in fields.items() if key != "previous"}
    before = decode_record(record.previous)
    if before is None or (record.rejected and _same_conversation(record, before)):
        return None
    return record.previous


def _same_conversation(one: ResumeRecord, other: ResumeRecord) -> bool:
    return (one.agent, one.session_ref) == (other.agent, other.session_ref)


def resolved(record: ResumeRecord) -> ResumeRecord:
    """Return the record with ``resume_argv`` as it would run now.

    The id and the checkpoint are filled in; an id that was in place is replaced where the
    conversation has moved on. What has no value yet stays as it is. Twice is the same as once.
    """
    if conversation_kind(record) is StrategyKind.CONTINUE and record.strategy == StrategyKind.LEARN:
        return replace(record, resume_argv=record.latest_argv)
    places = {CHECKPOINT: record.checkpoint} if record.checkpoint else {}
    ref = record.session_ref
    if ref is not None and is_session_ref(ref):
        places[SESSION_ID] = ref
    argv = record.resume_argv
    if SESSION_ID in places and record.argv_ref:
        stale = naming(record.argv_ref)
        argv = tuple(stale.sub(lambda _: SESSION_ID, word) for word in argv)
    argv_ref = places.get(SESSION_ID, record.argv_ref)
    return replace(record, resume_argv=_filled(argv, places), argv_ref=argv_ref)


def _filled(argv: tuple[str, ...], places: Mapping[str, str]) -> tuple[str, ...]:
    if not places:
        return argv
    # One pass, so that a value that looks like a place is left as it is.
    place = re.compile("|".join(map(re.escape, places)))
    return tuple(place.sub(lambda found: places[found[0]], word) for word in argv)


def naming(ref: str) -> re.Pattern[str]:
    """Match ``ref`` as a word, a value behind ``=`` or the name of a file; not part of an id."""
    return re.compile(rf"(?<![A-Za-z0-9._:-]){re.escape(ref)}(?![A-Za-z0-9_:-])")


def conversation_kind(record: ResumeRecord) -> StrategyKind:
    """Return how the conversation is found: *learn* counts as *continue* while its id is unknown.

    An unknown strategy counts as *none*.
    """
    kind = _KINDS.get(record.strategy, StrategyKind.NONE)
    if kind is StrategyKind.LEARN and record.session_ref is None:
        return StrategyKind.CONTINUE
    return kind
