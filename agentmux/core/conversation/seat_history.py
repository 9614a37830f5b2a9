"""What is recorded about the earlier launches of a seat, as needed for its next launch."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.agents.spec import StrategyKind
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.records import Json
from agentmux.core.conversation.resume_record import ResumeRecord, decode_record


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatHistory:
    """What is known of one seat's earlier launches and of its conversation.

    `seat_history` makes it from the seat's resume record.

    Attributes:
        fields: The seat's resume record as stored in the state, including fields that this version
            does not know; None before the first launch.
        record: ``fields``, decoded; None if ``fields`` is None or cannot be decoded.
        previous: ``record.previous``, decoded. None if it is not needed, because a prompt reached
            the conversation of ``record`` and the agent did not reject it.
        deciding_record: The record that decides whether a conversation is resumed, and which one.
            It is ``previous`` if a prompt reached the conversation of ``previous`` but none reached
            that of ``record``; otherwise it is ``record``. If ``record`` says that the agent
            rejected the conversation of ``previous``, the copy of ``previous`` here is marked as
            rejected. None if ``record`` is None.
        failed_at_once: Whether the last launch was a fresh start that ended in an error before any
            prompt of AgentMux arrived.
        never_ran: Whether the program of the last fresh start could not be run at all.
    """

    fields: Json | None = None
    record: ResumeRecord | None = None
    previous: ResumeRecord | None = None
    deciding_record: ResumeRecord | None = None
    failed_at_once: bool = False
    never_ran: bool = False

    def next_previous(self) -> Json | None:
        """Return the fields to store as ``previous`` in the record of the next launch.

        They are those of the latest record whose conversation received a prompt and was not
        rejected by the agent; None if there is no such record.
        """
        record, previous = self.record, self.previous
        if record is None or self.fields is None:
            return None
        if record.reached and not record.rejected:
            return {key: value for key, value in self.fields.items() if key != "previous"}
        if previous is None or (record.rejected and _same_conversation(record, previous)):
            return None
        return record.previous

    def with_command(self, kind: StrategyKind, argv: tuple[str, ...] | None) -> SeatHistory:
        """Return a copy whose `deciding_record` resumes the conversation with another command.

        If there is no `deciding_record`, or ``argv`` is None, return this history unchanged.

        Args:
            kind: The strategy to which the command belongs.
            argv: The new argv that resumes the conversation, or None.
        """
        standing = self.deciding_record
        if standing is None or argv is None:
            return self
        copy = replace(
            standing,
            strategy=kind,
            resume_argv=argv,
            latest_argv=(),
            argv_ref=standing.session_ref,
        )
        return replace(
            self, record=copy if standing is self.record else self.record, deciding_record=copy
        )


def seat_history(
    fields: object, *, failed_at_once: bool = False, never_ran: bool = False
) -> SeatHistory:
    """Return the history of a seat whose resume record has these ``fields``; never raises.

    Args:
        fields: The seat's resume record as stored in the state; None if it has none.
        failed_at_once: Whether the last launch was a fresh start that ended in an error before any
            prompt arrived.
        never_ran: Whether the program of the last fresh start could not be run at all.
    """
    record = decode_record(fields)
    previous = None
    if record is not None and (record.rejected or not record.reached):
        previous = decode_record(record.previous)
    return SeatHistory(
        fields=fields if isinstance(fields, Mapping) else None,
        record=record,
        previous=previous,
        deciding_record=_deciding_record(record, previous),
        failed_at_once=failed_at_once,
        never_ran=never_ran,
    )


def _deciding_record(
    record: ResumeRecord | None, previous: ResumeRecord | None
) -> ResumeRecord | None:
    if record is None or record.reached or previous is None or not previous.reached:
        return record
    rejected = previous.rejected or (record.rejected and _same_conversation(record, previous))
    return replace(previous, rejected=rejected, restart=record.restart, previous=None)


def _same_conversation(one: ResumeRecord, other: ResumeRecord) -> bool:
    return (one.agent, one.session_ref) == (other.agent, other.session_ref)
