"""Finds and ends processes of agents that outlived their session.

An agent that outlived its tmux server is ended before its session is resumed: otherwise, a seat
would have two agents. A program that an agent has detached (``setsid``) outlives its pane.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system.processes import processes
from agentmux.adapters.system.processes.lost_work import can_be_folder, end_work, lost_programs
from agentmux.app.commands.resume.resume_consent import Survivors
from agentmux.cli import render
from agentmux.core.journal.events import ORCHESTRATOR

if TYPE_CHECKING:
    from agentmux.adapters.system.processes.processes import Survivor
    from agentmux.app.person import Person
    from agentmux.app.session.search.lookup import SessionEntry

_DYING_S: Final = 4.0
"""How many seconds agents get to end by themselves after their server is gone.

It is a bit more than the time after which the wrapper, in which each agent runs, kills the agent.
"""


def find_survivors(
    sessions: Iterable[tuple[str, Path]], *, wait_s: float = _DYING_S
) -> tuple[Survivor, ...]:
    """Return the agents that still run, after a wait, although their sessions are not live.

    If there are any, wait up to ``wait_s`` for them to end by themselves. No process is ended here.

    Args:
        sessions: Id and directory of each session. None of them may be live. A copied session has
            the id of the original, so an agent that was started in another directory, which still
            exists, is not returned.
        wait_s: How long to wait, in seconds.
    """
    places = tuple(sessions)
    alive = processes.survivors(*(uuid for uuid, _ in places))
    agents = [each for each in alive if _is_of(each, places)]
    left = processes.left_after([(each.pid, each.started) for each in agents], wait_s=wait_s)
    return tuple(each for each in agents if (each.pid, each.started) in left)


def _is_of(survivor: Survivor, places: Iterable[tuple[str, Path]]) -> bool:
    """Whether an agent belongs to one of the sessions.

    An agent whose session directory does not exist any more counts, too: the session was moved.

    Args:
        survivor: The agent; it has the id of one of the sessions.
        places: Id and directory of each session.
    """
    return any(
        survivor.session == uuid and can_be_folder(survivor.folder, path) for uuid, path in places
    )


def describe_survivors(alive: Iterable[Survivor]) -> str:
    """Return the agents as a text for people: for each one the seat, the pid and the program.

    They are separated by commas; the text is empty if there are none.
    """
    return ", ".join(f"{each.seat or '?'} (process {each.pid}, {each.argv0})" for each in alive)


def survivors_of(uuid: str, path: Path) -> Survivors | None:
    """Return the agents that outlived a session, in words and with a function that ends them.

    None if there are none. The session must not be live. Agents that still run get some seconds to
    end by themselves before this returns.

    Args:
        uuid: The session's uuid.
        path: The session's directory.
    """
    return as_survivors(find_survivors([(uuid, path)]))


def as_survivors(alive: tuple[Survivor, ...]) -> Survivors | None:
    """Return these processes in words, with a function that ends them; None if there are none.

    Nothing is ended before that function is called.
    """
    return Survivors(words=describe_survivors(alive), end=partial(end, alive)) if alive else None


def left_behind(entry: SessionEntry, *, wait_s: float = _DYING_S) -> tuple[Survivor, ...]:
    """Return the processes that a session has left running.

    These are its agents, and programs of an orchestrator that was killed. The agents get up to
    ``wait_s`` seconds to end by themselves before this returns. The session must have no
    orchestrator, and must not be live.
    """
    uuid = entry.text("session_id")
    return (*find_survivors([(uuid, entry.path)], wait_s=wait_s), *lost_programs(uuid, entry.path))


def left_words(alive: Iterable[Survivor]) -> str:
    """Return a sentence that names the processes ``alive``, which a session has left running."""
    known = tuple(alive)
    by_agents = any(each.seat != ORCHESTRATOR for each in known)
    who = "agents" if by_agents else "orchestrator, which was killed"
    return f"still running, left behind by the session's {who}: {describe_survivors(known)}"


def how_to_end(alive: Iterable[Survivor]) -> str:
    """Return the shell command that ends these processes; run nothing."""
    return f"kill {' '.join(str(each.pid) for each in alive)}"


def offer_to_end(person: Person, entry: SessionEntry, *, yes: bool) -> None:
    """Print which processes a session that has just ended has left running; end them with consent.

    The agents get some seconds to end by themselves first. If the person is not asked, and ``yes``
    is False, only print how to end what still runs.

    Args:
        person: The person to ask.
        entry: The session.
        yes: Whether to end them without asking.
    """
    alive = left_behind(entry)
    if not alive:
        return
    render.note(left_words(alive))
    if yes or (person.is_asked and person.consents("End them?")):
        end(alive)
        render.note("they are ended")
    else:
        render.note(f"to end them: {how_to_end(alive)}")


def end(alive: Iterable[Survivor]) -> None:
    """Ask the processes ``alive`` to end; after some seconds, kill those that still run."""
    known = tuple(alive)
    end_work(each for each in known if each.seat == ORCHESTRATOR)
    agents = [(each.pid, each.started) for each in known if each.seat != ORCHESTRATOR]
    processes.end(agents, grace_s=_DYING_S)
