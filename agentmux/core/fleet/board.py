"""The fleet as the user interfaces show it, read from the JSON of `fleet list` and `fleet show`.

Pure.
"""

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
"""The colours of features by status; other statuses have none."""
SHORT_ID: Final = 8
"""How many characters of a feature's id are shown."""
DRAINING: Final = (
    "It takes nothing more. Its worker ends when nothing runs there.",
    "To start its worker again ends that; what has begun there goes on then.",
)
"""What draining a host means, as lines for the user."""
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
"""How many features, the newest ones, a group shows; a fleet may have thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFeature:
    """A feature of the fleet, with attributes from the JSON of `fleet list`.

    Attributes:
        id: The uuid of the feature.
        title: One line that says what the feature is about.
        status: A `statuses.FleetStatus`, such as ``queued``.
        phase: The phase of the feature's session; empty before it has begun.
        host: The name of the host that runs the feature; empty if there is none.
        session: The name of the feature's session; empty before it has begun.
        reason: Why the feature has its status, for people; may be empty.
        asks: Whether the feature waits for a decision of the user.
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
        """The phase as a list shows it; empty if the status has the same name."""
        return listed_phase(self.phase, self.status)

    @property
    def title_with_reason(self) -> str:
        """The feature's title, cut to 60 characters, with the reason for its status, if any."""
        return title_with_reason(self.title, self.reason)

    @property
    def group_status(self) -> str:
        """The status by which features are grouped.

        It is ``dead letter`` for a dead letter, ``decision`` if the feature waits for a decision,
        and the feature's status otherwise.
        """
        if self.status == "failed" and self.reason.startswith(DEAD_LETTER):
            return DEAD_LETTER
        return _DECISION if self.status == "waiting" and self.asks else self.status

    @property
    def can_be_retried(self) -> bool:
        """Whether `fleet retry` would continue the feature."""
        return self.status == "failed"

    @property
    def can_be_cancelled(self) -> bool:
        """Whether `fleet cancel` would stop the feature."""
        return self.status not in ENDED

    @property
    def if_cancelled(self) -> tuple[str, ...]:
        """What cancelling the feature means, as lines for the user."""
        stopped = "Its session is stopped, and keeps its files and conversations."
        begun = stopped if self.session else "It has not begun."
        return (begun, "It counts as failed then, and can go on.")

    @property
    def attach(self) -> str:
        """The command that attaches to the feature's session; empty before there is a session."""
        return f"agentmux fleet attach {self.id[:SHORT_ID]}" if self.session else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    """A group of features in the same situation, such as those that wait for a decision.

    Attributes:
        name: The name of the group, for people.
        count: How many features are in the group.
        shown: The newest features of the group, at most 100, in the order of submission.
    """

    name: str
    count: int
    shown: tuple[FleetFeature, ...]

    @property
    def count_text(self) -> str:
        """The count with the group's name, such as ``2 to decide``."""
        is_one = self.count == 1 and self.name == _DEAD_S
        return f"{self.count} {DEAD_LETTER if is_one else self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetBoard:
    """The state of the fleet at one moment.

    Attributes:
        features: All features, in the order of submission.
        hosts: All hosts, in the order of their names.
    """

    features: tuple[FleetFeature, ...]
    hosts: tuple[HostFacts, ...]

    @property
    def groups(self) -> Iterator[FleetGroup]:
        """The non-empty groups of features; those that wait for a person come first."""
        for name, statuses in _GROUPS:
            features = tuple(each for each in self.features if each.group_status in statuses)
            if features:
                yield FleetGroup(name=name, count=len(features), shown=features[-_SHOWN:])


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetQuestion:
    """The decision that a feature waits for, from the JSON of `fleet show`.

    Attributes:
        feature: The feature.
        digest: The digest of what the user sees, which the decision must repeat; empty if nothing
            can be decided now.
        obstacle: Why the feature cannot be approved now; empty if nothing prevents it.
        lines: What an approval would do, as lines for the user.
        beginnings: The phases in which changes can begin, each with a description; the smallest
            change comes first. Empty if its host runs a release that does not say.
    """

    feature: FleetFeature
    digest: str = ""
    obstacle: str = ""
    lines: tuple[str, ...] = ()
    beginnings: tuple[tuple[str, str], ...] = ()

    @property
    def block_reason(self) -> str:
        """Why nothing can be decided now, for people; has no meaning if something can."""
        return self.obstacle or "nothing is to be decided now"


def listed_phase(phase: str, status: str) -> str:
    """Return the phase of a feature as a list shows it; empty if the status has the same name."""
    return "" if phase == status else phase


def title_with_reason(title: str, reason: str) -> str:
    """Return the title of a feature, followed by the reason for its status in parentheses, if any.

    A title of more than 60 characters is cut.
    """
    cut = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    return printable(f"{cut} ({reason})" if reason else cut)


def host_words(host: HostFacts) -> str:
    """Return one line that describes a host: its name, state, and number of slots taken."""
    state = "drains" if host.draining else "runs"
    if not host.running:
        state = "has ended"
    elif not host.is_alive:
        state = f"was not seen for {host.age_s:.0f} s"
    return printable(
        f"host {host.name}: {state}, {host.busy} of {format_count(host.slots, 'slot')} taken"
    )


def board_of(found: Mapping[str, Any]) -> FleetBoard:
    """Return the board from ``found``, the parsed JSON of `fleet list`.

    It is a mapping with the lists ``features`` and ``hosts``.

    Raises:
        LookupError, TypeError, ValueError: ``found`` is not the JSON of `fleet list`.
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
    """Return the question to the user from ``found``, the parsed JSON of `fleet show`.

    ``found`` is a mapping with the fields of one feature and, under ``question``, a mapping with
    ``digest``, ``obstacle``, ``lines`` and ``beginnings``, or None. What is missing is empty in the
    result.

    Raises:
        LookupError, TypeError, ValueError: ``found`` is not the JSON of `fleet show`.
    """
    asked = found["question"] or {}
    return FleetQuestion(
        feature=_feature(found),
        digest=str(asked.get("digest") or ""),
        obstacle=str(asked.get("obstacle") or ""),
        lines=tuple(map(str, asked.get("lines") or ())),
        beginnings=tuple((str(name), str(says)) for name, says in asked.get("beginnings") or ()),
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
