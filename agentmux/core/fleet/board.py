"""The fleet as the faces show it: what `fleet list --json` says, and its words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.routing import HostFacts
from agentmux.core.fleet.statuses import DEAD_LETTER, ENDED
from agentmux.core.names.status_labels import Colour
from agentmux.core.names.words.counts import format_count
from agentmux.core.terminal.text.text_width import printable

COLOURS: Final[Mapping[str, Colour]] = {
    "waiting": Colour.YELLOW,
    "parked": Colour.YELLOW,
    "failed": Colour.RED,
    "done": Colour.GREEN,
    "moved": Colour.DIM,
}
SHORT_ID: Final = 8
DRAINING: Final = (
    "It takes nothing more. Its worker ends when nothing runs there.",
    "To start its worker again ends that; what has begun there goes on then.",
)
"""What it means for a host to be drained."""
_TITLE: Final = 60
_DECISION: Final = "decision"
_DEAD_S: Final = f"{DEAD_LETTER}s"
_GROUPS: Final = (
    ("to decide", (_DECISION,)),
    ("asks on its host", ("waiting",)),
    (_DEAD_S, (DEAD_LETTER,)),
    ("failed", ("failed",)),
    ("at work", ("running", "parked")),
    ("in the queue", ("queued",)),
    ("ended", ("done", "moved")),
)
NEEDS_YOU: Final = frozenset({"to decide", "asks on its host"})
"""The names of the groups that wait for a person."""
_SHOWN: Final = 100
"""A group shows so many of its newest features: a fleet has done thousands in the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFeature:
    """A feature of the fleet; its attributes are those of the JSON.

    Attributes:
        host: The name of its host; empty for none.
        session: The name of its session; empty before it has begun.
        asks: Whether a decision is asked for.
    """

    id: str
    title: str
    status: str
    phase: str
    host: str
    session: str
    reason: str
    asks: bool

    @property
    def listed_phase(self) -> str:
        """Its phase; empty where its status says the same."""
        return listed_phase(self.phase, self.status)

    @property
    def about(self) -> str:
        """Its title, and the reason of its status."""
        return about(self.title, self.reason)

    @property
    def kind(self) -> str:
        """Its status, or more exactly that it is a dead letter or waits for a decision."""
        if self.status == "failed" and self.reason.startswith(DEAD_LETTER):
            return DEAD_LETTER
        return _DECISION if self.status == "waiting" and self.asks else self.status

    @property
    def can_be_retried(self) -> bool:
        """Whether `fleet retry` would go on with it."""
        return self.status == "failed"

    @property
    def can_be_cancelled(self) -> bool:
        """Whether `fleet cancel` would stop it."""
        return self.status not in ENDED

    @property
    def if_cancelled(self) -> tuple[str, ...]:
        """What it means to cancel it."""
        stopped = "Its session is stopped, and keeps its files and conversations."
        begun = stopped if self.session else "It has not begun."
        return (begun, "It counts as failed then, and can go on.")

    @property
    def attach(self) -> str:
        """The command that shows its session; empty before it has one."""
        return f"agentmux fleet attach {self.id[:SHORT_ID]}" if self.session else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    """Features that need the same.

    Attributes:
        count: How many there are.
        shown: The newest of them, in the order of submission.
    """

    name: str
    count: int
    shown: tuple[FleetFeature, ...]

    @property
    def count_text(self) -> str:
        """How many features need what."""
        is_one = self.count == 1 and self.name == _DEAD_S
        return f"{self.count} {DEAD_LETTER if is_one else self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetBoard:
    """The fleet at one moment.

    Attributes:
        features: In the order of submission.
        hosts: In the order of their names.
    """

    features: tuple[FleetFeature, ...]
    hosts: tuple[HostFacts, ...]

    @property
    def groups(self) -> Iterator[FleetGroup]:
        """The features by what they need: what waits for a person comes first."""
        for name, statuses in _GROUPS:
            features = tuple(each for each in self.features if each.kind in statuses)
            if features:
                yield FleetGroup(name=name, count=len(features), shown=features[-_SHOWN:])


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetQuestion:
    """What is to be decided on a feature, as `fleet show --json` says it.

    Attributes:
        digest: Of what is shown; empty where it cannot be decided now.
        obstacle: Why it cannot be approved now; empty for nothing.
        lines: What an approval would do.
    """

    feature: FleetFeature
    digest: str = ""
    obstacle: str = ""
    lines: tuple[str, ...] = ()

    @property
    def block_reason(self) -> str:
        """Why nothing can be decided now, in words."""
        return self.obstacle or "nothing is to be decided now"


def listed_phase(phase: str, status: str) -> str:
    """Return the phase of a feature as lists have it: empty where its status says the same."""
    return "" if phase == status else phase


def about(title: str, reason: str) -> str:
    """Return the title of a feature, cut, and why it has its status."""
    cut = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    return printable(f"{cut} ({reason})" if reason else cut)


def host_words(host: HostFacts) -> str:
    """Return the line of a host."""
    state = "drains" if host.draining else "runs"
    if not host.running:
        state = "has ended"
    elif not host.is_alive:
        state = f"was not seen for {host.age_s:.0f} s"
    return printable(
        f"host {host.name}: {state}, {host.busy} of {format_count(host.slots, 'slot')} taken"
    )


def board_of(found: Mapping[str, Any]) -> FleetBoard:
    """Return what the JSON of `fleet list` says.

    Raises:
        LookupError, TypeError, ValueError: It is not that.
    """
    hosts = tuple(
        HostFacts(
            id=str(each["id"]),
            name=str(each["name"]),
            slots=int(each["slots"]),
            busy=int(each["busy"]),
            age_s=float(each["seen_s"]),
            draining=bool(each["draining"]),
            running=bool(each["running"]),
        )
        for each in found["hosts"]
    )
    return FleetBoard(features=tuple(map(_feature, found["features"])), hosts=hosts)


def question_of(found: Mapping[str, Any]) -> FleetQuestion:
    """Return what the JSON of `fleet show` says.

    Raises:
        LookupError, TypeError, ValueError: It is not that.
    """
    asked = found["question"] or {}
    return FleetQuestion(
        feature=_feature(found),
        digest=str(asked.get("digest") or ""),
        obstacle=str(asked.get("obstacle") or ""),
        lines=tuple(map(str, asked.get("lines") or ())),
    )


def _feature(each: Mapping[str, Any]) -> FleetFeature:
    return FleetFeature(
        id=str(each["id"]),
        title=str(each["title"]),
        status=str(each["status"]),
        phase=str(each["phase"] or ""),
        host=str(each["host"] or ""),
        session=str(each["session"] or ""),
        reason=str(each["reason"] or ""),
        asks=bool(each["decision"]),
    )
