"""The commands that a face runs for a person, as typed after ``agentmux``. Pure.

``name`` is always that of a session. ``wait_s`` is how many seconds a command waits for its result;
empty: as long as it does by itself.
"""

from __future__ import annotations

from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


def attach(name: str) -> Words:
    """Return the command that shows a session in this terminal."""
    return ("attach", *_to_words(name))


def approve(name: str, digest: str, *, way: str = "", wait_s: str = "") -> Words:
    """Return the approval of what was shown with this digest.

    What the commit leaves out, repositories inside the project and commits elsewhere, was shown
    with it, and what a merge brings back. ``way`` is where the result goes,
    such as ``merge``; empty: as configured.
    """
    ways = ("--leave-nested", "--leave-commits", "--bring-back", *((f"--{way}",) if way else ()))
    return ("approve", "--yes", *ways, *_limit(wait_s), "--digest", digest, *_to_words(name))


def request_changes(name: str, begins: str, digest: str) -> Words:
    """Return the request to change what was shown with this digest; its text comes on stdin.

    ``begins`` and ``digest`` may be empty.
    """
    begin = ("--from", begins) if begins else ()
    shown = ("--digest", digest) if digest else ()
    return ("request-changes", "--session", name, *begin, *shown, "-")


def answer(
    name: str, seat: str, keys: Words, digest: str, *, literal: bool = False, wait_s: str = ""
) -> Words:
    """Return the keys for the question on the screen with this digest.

    With ``literal``, no key is the name of one.
    """
    typed = ("--literal",) if literal else ()
    place = ("--role", seat, "--screen", digest, *_limit(wait_s), *typed)
    return ("answer", *place, "--", name, *keys)


def tell(name: str, seat: str, *, wait_s: str = "") -> Words:
    """Return the message to an agent; its text comes on stdin."""
    return ("tell", "--role", seat, *_limit(wait_s), "--", name, "-")


def resume(name: str, fresh: Words = (), *, reattach: bool = False) -> Words:
    """Return the resume whose plan was shown; the seats in ``fresh`` begin anew."""
    if reattach:
        return ("resume", "--reattach", "--detach", *_to_words(name))
    seats = (word for seat in fresh for word in ("--fresh-role", seat))
    return ("resume", "--detach", *seats, *_to_words(name))


def restart(name: str, seat: str) -> Words:
    """Return the restart of a seat."""
    return ("restart", "--role", seat, *_to_words(name))


def skip(name: str, seat: str) -> Words:
    """Return the decision to go on without a command of a check that could not run."""
    return ("restart", "--skip", "--role", seat, *_to_words(name))


def unpark(name: str) -> Words:
    """Return the end of the waiting for usage limits."""
    return ("unpark", *_to_words(name))


def stop(name: str) -> Words:
    """Return the stop of a session."""
    return ("stop", *_to_words(name))


def remove(name: str) -> Words:
    """Return the removal of a session; work that is nowhere else is kept from it."""
    return ("remove", "--yes", *_to_words(name))


def start(path: str, *, pipeline: str = "", place: str = "") -> Words:
    """Return the start of a session for the feature that is described in a file.

    Args:
        path: The file.
        pipeline: The pipeline; empty: as configured.
        place: ``worktree`` or ``no-worktree``; empty: as configured.
    """
    taken = ("--pipeline", pipeline) if pipeline else ()
    where = (f"--{place}",) if place else ()
    return ("start", "--detach", *taken, *where, f"@{path}")


def start_described(
    *, agent: str, pipeline: str, place: str, issue: str, is_described: bool, dry_run: bool
) -> Words:
    """Return the start of a session whose description, if there is one, comes on stdin.

    ``agent``, ``pipeline``, ``place`` (such as ``worktree``) and ``issue`` may be empty.
    """
    named = (("agent", agent), ("pipeline", pipeline), ("issue", issue))
    given = (f"--{name}={text}" for name, text in named if text)
    flags = (*((f"--{place}",) if place else ()), *(("--dry-run",) if dry_run else ()))
    text = ("-",) if is_described or not issue else ()
    return ("start", "--detach", "--json", *given, *flags, *text)


def fleet_list() -> Words:
    """Return the list of the fleet, for a program."""
    return ("fleet", "list", "--json")


def fleet_show(feature: str) -> Words:
    """Return all that the fleet knows of the feature with this id, for a program."""
    return ("fleet", "show", "--json", "--", feature)


def fleet_approve(feature: str, digest: str) -> Words:
    """Return the approval, by the fleet, of what was shown with this digest."""
    return ("fleet", "approve", "--yes", "--digest", digest, "--", feature)


def fleet_request_changes(feature: str, digest: str) -> Words:
    """Return the request to change what was shown with this digest; its text comes on stdin."""
    return ("fleet", "request-changes", "--digest", digest, "--", feature, "-")


def fleet_retry(feature: str) -> Words:
    """Return the order to go on with a feature of the fleet that has failed."""
    return ("fleet", "retry", "--", feature)


def fleet_attach(feature: str) -> Words:
    """Return the look at the session of a feature, in this terminal."""
    return ("fleet", "attach", "--", feature)


def fleet_cancel(feature: str) -> Words:
    """Return the order to stop a feature of the fleet, and to run it no further."""
    return ("fleet", "cancel", "--yes", "--", feature)


def fleet_drain(host: str) -> Words:
    """Return the order that lets a host of the fleet take nothing more."""
    return ("fleet", "drain", "--", host)


def _to_words(name: str) -> Words:
    """Return the name of a session; one that looks like an option stands behind ``--``."""
    return ("--", name) if name.startswith("-") else (name,)


def _limit(wait_s: str) -> Words:
    return ("--timeout", wait_s) if wait_s else ()
