"""Sends a test notification to each configured address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.config.settings import BELL, TMUX, Address
from agentmux.core.names.words.counts import format_count
from agentmux.errors import AgentmuxError
from agentmux.ports.notifier import Notification, Notifier

_TITLE: Final = "AgentMux: this is a test"
_MESSAGE: Final = Notification(
    title=_TITLE, body="A session that needs you will call you here (agentmux notify --test)."
)


class TrialOutcome(StrEnum):
    """What happened to a test message.

    ``sent``, or ``failed`` if it could not be sent. ``skipped``: the address could not be tried
    here, but a session may still reach the user there.
    """

    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The address could not be tried here, but may still reach the user from a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of the test at one address.

    Attributes:
        address: The address.
        outcome: What happened to the message.
        reason: Why the message was not sent, or more about the outcome; may be empty, and contains
            nothing secret.
    """

    address: Address
    outcome: TrialOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The means by which the test reaches the user.

    Attributes:
        ring: Rings the bell of the user's terminal; returns False if there is no terminal.
        announce: Shows a text to every client of tmux; returns how many there were.
        notifier: Sends to all other addresses.
    """

    ring: Callable[[], bool]
    announce: Callable[[str], int]
    notifier: Notifier


def send_test(addresses: Sequence[Address], ways: Channels) -> tuple[Tried, ...]:
    """Send one test message to each address; return the outcomes in the order of ``addresses``.

    Waits until all are sent or have failed; never raises. ``ways`` are the means of sending.
    """
    others = [each for each in addresses if each.value not in {BELL, TMUX}]
    near = {Address(BELL): lambda: _bell(ways), Address(TMUX): lambda: _tmux(ways)}
    results = {each: near[each]() for each in addresses if each in near}
    results |= {each.address: each for each in _send_messages(others, ways)}
    return tuple(results[each] for each in addresses)


def _bell(ways: Channels) -> Tried:
    if ways.ring():
        return Tried(address=Address(BELL), outcome=TrialOutcome.SENT)
    reason = "this is no terminal; a session rings in its own"
    return Tried(address=Address(BELL), outcome=TrialOutcome.SKIPPED, reason=reason)


def _tmux(ways: Channels) -> Tried:
    address = Address(TMUX)
    try:
        count = ways.announce(f"{_TITLE} (agentmux notify --test)")
    except AgentmuxError as error:
        return Tried(address=address, outcome=TrialOutcome.FAILED, reason=error.message)
    if not count:
        reason = "nobody is attached to tmux now"
        return Tried(address=address, outcome=TrialOutcome.SKIPPED, reason=reason)
    reason = f"{format_count(count, 'client')} of tmux"
    return Tried(address=address, outcome=TrialOutcome.SENT, reason=reason)


def _send_messages(addresses: Sequence[Address], ways: Channels) -> Iterator[Tried]:
    for each in ways.notifier.send(_MESSAGE, addresses) if addresses else ():
        outcome = TrialOutcome.FAILED if each.problem else TrialOutcome.SENT
        yield Tried(address=each.address, outcome=outcome, reason=each.problem)
