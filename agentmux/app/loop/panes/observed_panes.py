"""What the orchestrator has last seen of the panes of its session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agentmux.core.journal.state import Seat
from agentmux.core.names.statuses import BUSY
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import Pane


@dataclass(slots=True)
class LastLook:
    """What the last look at a pane's screen found.

    Attributes:
        digest: The digest of the screen.
        still_since: Since when the screen is unchanged, in monotonic seconds.
        saved: Whether this screen was saved as a snapshot.
    """

    digest: str
    still_since: float
    saved: bool = False


@dataclass(frozen=True, slots=True)
class Unsent:
    """A prompt that has to be typed, and has not arrived.

    Attributes:
        why: Why it has not arrived, in words; empty while it is tried for the first time.
        typed: Whether it may be in the pane; then it is never typed again.
        digest: The digest of the screen before the try (as in `LastLook`); None if there was no
            look.
    """

    why: str
    typed: bool
    digest: str | None


@dataclass(slots=True)
class ObservedPanes:
    """The panes, what each seat does, and what each screen last showed.

    Attributes:
        panes: The panes, by launch id.
        statuses: What the agents do, by seat.
        last_lines: The last line of each seat's screen, by seat.
        last_looks: The last look at each screen, by pane id.
        worked: The ids of the launches whose agents were seen at work.
        unsent: The prompts that have not arrived, by launch id.
        at_once: The ids of the launches whose prompts the user wants typed whatever the screen
            shows.
    """

    panes: dict[str, Pane] = field(default_factory=dict)
    statuses: dict[str, SeatStatus] = field(default_factory=dict)
    last_lines: dict[str, str] = field(default_factory=dict)
    last_looks: dict[str, LastLook] = field(default_factory=dict)
    worked: set[str] = field(default_factory=set)
    unsent: dict[str, Unsent] = field(default_factory=dict)
    at_once: set[str] = field(default_factory=set)

    def see(self, panes: tuple[Pane, ...]) -> None:
        """Replace the known panes with ``panes``, the ones that exist now.

        Prompts in `unsent` whose pane is gone are dropped.
        """
        self.panes = {pane.launch: pane for pane in panes if pane.launch}
        self.unsent = {each: known for each, known in self.unsent.items() if each in self.panes}

    def pane_id(self, launch: str) -> str:
        """Return the id of the pane of a launch, by the launch's id; empty if none was seen."""
        pane = self.panes.get(launch)
        return "" if pane is None else pane.id

    def status(self, seat: str) -> str:
        """Return the status of the seat, such as ``busy`` or ``idle``; empty if none was noted.

        The possible words are constants of `agentmux.core.names.statuses`.
        """
        known = self.statuses.get(seat)
        return "" if known is None else known.status

    def is_busy(self, seat: str) -> bool:
        """Return whether the seat's agent was at work at the last look."""
        return self.status(seat) == BUSY

    def note(self, seat: str, seen: SeatStatus) -> None:
        """Set the status of a seat to ``seen``; nothing is written to the disk.

        If the ``status`` in it is the known one, the known ``since`` and ``source`` are kept.
        """
        known = self.statuses.get(seat)
        if known is not None and known.status == seen.status:
            seen = replace(seen, source=known.source, since=known.since)
        self.statuses[seat] = seen

    def forget_all_but(self, seats: frozenset[str]) -> None:
        """Drop the statuses and last lines of all seats that are not in ``seats``."""
        self.last_lines = {name: line for name, line in self.last_lines.items() if name in seats}
        self.statuses = {name: known for name, known in self.statuses.items() if name in seats}

    def last_look(self, launch: str) -> LastLook | None:
        """Return the last look at the screen of the launch with this id; None if there was none."""
        return self.last_looks.get(self.pane_id(launch))

    def digest(self, launch: str) -> str | None:
        """Return the digest of a launch's last screen, by its id; None if it was not looked at."""
        last_look = self.last_look(launch)
        return None if last_look is None else last_look.digest

    def may_try(self, launch: str) -> bool:
        """Return whether the prompt of the launch with this id may be typed now.

        A prompt that was not tried yet may be typed. One that did not arrive may be typed if
        nothing of it was typed and the screen has changed since, or if the user wants it.
        """
        unsent = self.unsent.get(launch)
        if unsent is None or launch in self.at_once:
            return True
        return not unsent.typed and self.digest(launch) != unsent.digest

    def why_unsent(self, seat: Seat) -> str:
        """Return why the prompt of a seat has not arrived; empty if it has, or is being typed."""
        unsent = self.unsent.get(seat.launch)
        return "" if unsent is None or seat.reached else unsent.why

    def is_untyped(self, seat: Seat) -> bool:
        """Return whether the prompt of a seat has not arrived because it was not typed yet."""
        unsent = self.unsent.get(seat.launch)
        return unsent is not None and not unsent.typed and bool(self.why_unsent(seat))

    def forgive(self, pause_s: float) -> None:
        """Shorten the silence of every agent by ``pause_s`` seconds, which do not count.

        In that time the orchestrator did not run, for example because the machine was suspended.
        """
        for last_look in self.last_looks.values():
            last_look.still_since += pause_s
