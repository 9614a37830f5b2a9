"""What a pane shows before an agent runs in it, or instead of an agent, as data.

`adapters/pane/gate.py` shows it; docs/reference/session-files.md describes the fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import to_fields
from agentmux.core.journal.events import LaunchChosen
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.statuses import STOPPED
from agentmux.ports.session_files import SessionFiles

RESUME: Final = "resume"
FRESH: Final = "fresh"
SHELL: Final = "shell"
RESUME_KEY: Final = RESUME[0]
"""The key of a stopped pane that chooses `RESUME`."""
CHOSEN: Final = "chosen in its pane"

_TITLES: Final[Mapping[str, str]] = {
    RESUME: "Resume",
    FRESH: "New conversation",
    SHELL: "Shell",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneManner:
    """How the panes of a session come up.

    Attributes:
        fresh: The seats that are to start a new conversation; ``*`` is all of them.
        stopped: Whether each pane that a resume opens waits for the user's choice.
    """

    fresh: frozenset[str] = frozenset()
    stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneOffer:
    """One choice in a stopped pane.

    Attributes:
        says: What the choice would run, in a few words.
        runs: The fields of the launch file that depend on the choice.
        fact: What is recorded when it is chosen.
    """

    says: str
    runs: Mapping[str, object]
    fact: LaunchChosen


def gate_fields(
    session: Path, seat: str, *, title: str, says: str, offers: Iterable[PaneOffer] = ()
) -> dict[str, object]:
    """Return the fields for a pane that waits: the seat's last screen, and below it the choices.

    Args:
        session: The session's directory.
        seat: The seat.
        title: Seat, agent and mode, as in the border of a pane.
        says: Why the seat comes up like this.
        offers: The choices; none for a pane that only shows the screen.
    """
    return {
        "title": title,
        "says": says,
        "snapshot": str(session / layout.snapshot(seat)),
        "wake": str(session / layout.WAKE),
        "choices": {offer.fact.choice: _choice(offer) for offer in offers},
    }


def _choice(offer: PaneOffer) -> dict[str, object]:
    name = offer.fact.choice
    return {
        "key": name[0],
        "title": _TITLES[name],
        "says": offer.says,
        **offer.runs,
        "fact": to_fields(offer.fact),
    }


def unheard(state: SessionState, files: SessionFiles) -> Iterator[tuple[str, str, LaunchChosen]]:
    """Yield seat, launch and choice for each choice that no orchestrator has recorded yet.

    The user made it in a pane while no orchestrator was running.
    """
    for name, seat in state.seats.items():
        choice = files.launch_record(seat.launch).choice if seat.status == STOPPED else None
        if choice is not None:
            yield name, seat.launch, choice


def fresh_notice(why: str) -> tuple[str, ...]:
    """Return the lines above an agent that starts a new conversation instead of its old one."""
    return (f"a new conversation: {why}",)


def shell_notice(seat: str, why: str, *, prompt: Path, signals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines above a shell in which the user plays a role."""
    return (
        f"{seat}: a shell, {why}",
        f"what to do: {prompt}",
        f"when it is done, run: {' && '.join(signals)}",
    )
