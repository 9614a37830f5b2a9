"""What a person chose for the seats of a resume, and what they were shown when they agreed to it.

Pure. Faces make a `LaunchPolicy`, and the orchestrator opens the panes of the resume by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.conversations import SeatChoice
from agentmux.errors import UsageError

EVERY: Final = "*"
"""Stands for all seats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPolicy:
    """How a resume opens the panes of a session.

    In all tuples, ``*`` stands for all seats.

    Attributes:
        fresh: The seats that start a new conversation.
        shell: The seats that get a shell for the user instead of their agents.
        stopped: The seats whose panes wait for the user's choice before they start an agent.
        agreed: The digest of the launch that a person agreed to, by seat (`LaunchPlan.digest`). A
            pane whose launch has another digest waits for the user's choice. None if nobody was
            asked; then no pane waits for that reason.
    """

    fresh: tuple[str, ...] = ()
    shell: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    agreed: Mapping[str, str] | None = None

    def choice(self, seat: str) -> SeatChoice:
        """Return what was chosen for a seat; `SeatChoice.PLANNED` if nothing was."""
        chosen = {
            SeatChoice.STOPPED: self.stopped,
            SeatChoice.SHELL: self.shell,
            SeatChoice.FRESH: self.fresh,
        }
        holds = (each for each, seats in chosen.items() if seat in seats or EVERY in seats)
        return next(holds, SeatChoice.PLANNED)

    @property
    def options(self) -> tuple[str, ...]:
        """This policy as words of ``agentmux resume``: an option, its value, the next option, …."""
        agreed = (f"{seat}={digest}" for seat, digest in (self.agreed or {}).items())
        values = {
            "--fresh-role": self.fresh,
            "--shell-role": self.shell,
            "--stopped-role": self.stopped,
            "--agreed": agreed,
        }
        return tuple(
            word for name, each in values.items() for text in each for word in (name, text)
        )

    def covers(self, seat: str, digest: str) -> bool:
        """Whether the seat's launch with this digest needs no further choice of the user.

        That is so if a person agreed to this launch, if a shell or a stopped pane was chosen for
        the seat, or if ``agreed`` is None, because nobody was asked to agree to any launch.

        Args:
            seat: The name of the seat.
            digest: The digest of the launch as it is planned now (`LaunchPlan.digest`).
        """
        chosen = self.choice(seat) in {SeatChoice.SHELL, SeatChoice.STOPPED}
        return chosen or self.agreed is None or self.agreed.get(seat) == digest


ORDINARY: Final = LaunchPolicy()
"""The policy of launches that are not part of a resume: the plan decides alone."""


def read_agreed(words: Iterable[str]) -> Mapping[str, str]:
    """Return the digests by seat from ``words``, the values ``SEAT=DIGEST`` of ``--agreed``.

    Raises:
        UsageError: A word has another form.
    """
    agreed = {}
    for word in words:
        seat, _, digest = word.rpartition("=")
        if not seat:
            raise UsageError(
                f"`--agreed {word}` is not SEAT=DIGEST",
                hints=("see the digests: agentmux resume --all --dry-run --json",),
            )
        agreed[seat] = digest
    return agreed


def policy_of(
    choices: Mapping[str, SeatChoice], agreed: Mapping[str, str] | None = None
) -> LaunchPolicy:
    """Return the policy with these choices for single seats.

    Args:
        choices: What was chosen, by the seat's name; a seat that is missing, or has
            `SeatChoice.PLANNED`, is started as planned.
        agreed: The digest of the launch that a person agreed to, by seat; None if nobody was asked.
    """
    seats = {
        choice: tuple(sorted(seat for seat, each in choices.items() if each is choice))
        for choice in SeatChoice
    }
    return LaunchPolicy(
        fresh=seats[SeatChoice.FRESH],
        shell=seats[SeatChoice.SHELL],
        stopped=seats[SeatChoice.STOPPED],
        agreed=agreed,
    )
