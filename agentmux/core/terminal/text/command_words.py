"""The command lines that a user interface runs for the user, without ``agentmux``. Pure.

In all functions, ``name`` is the name of a session, ``feature`` the id of a feature of the fleet,
and ``digest`` the digest of what the user was shown. ``wait_s`` is how many seconds a command waits
for its result; empty means the command's own default.
"""

from __future__ import annotations

from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


def attach(name: str) -> Words:
    """Return the command line that attaches this terminal to a session."""
    return ("attach", *_to_words(name))


def diff(name: str) -> Words:
    """Return the command line that shows what a session has changed, in the pager of git."""
    return ("diff", *_to_words(name))


def approve(name: str, digest: str, *, way: str = "", wait_s: str = "") -> Words:
    """Return the command line that approves the result that was shown with this digest.

    It confirms what the commit leaves out (nested repositories, commits on other branches) and what
    a merge brings back, because the user was shown that, too.

    Args:
        name: The session.
        digest: The digest of what was shown.
        way: How the result is delivered, such as ``merge``; empty means as configured.
        wait_s: See the module's docstring.
    """
    ways = ("--leave-nested", "--leave-commits", "--bring-back", *((f"--{way}",) if way else ()))
    return ("approve", "--yes", *ways, *_limit(wait_s), "--digest", digest, *_to_words(name))


def request_changes(name: str, begins: str, digest: str) -> Words:
    """Return the command line that requests changes; it reads the text from stdin.

    Args:
        name: The session.
        begins: The phase in which the next cycle begins; empty means the default.
        digest: The digest of what was shown; empty if nothing was.
    """
    begin = ("--from", begins) if begins else ()
    shown = ("--digest", digest) if digest else ()
    return ("request-changes", "--session", name, *begin, *shown, "-")


def answer(
    name: str, seat: str, keys: Words, digest: str, *, literal: bool = False, wait_s: str = ""
) -> Words:
    """Return the command line that answers the question on a seat's screen.

    Args:
        name: The session.
        seat: The seat.
        keys: The keys, as `answer_keys.read_keys` takes them.
        digest: The digest of the screen that the user saw.
        literal: Whether all keys are texts, even if they are names of keys.
        wait_s: See the module's docstring.
    """
    typed = ("--literal",) if literal else ()
    place = ("--role", seat, "--screen", digest, *_limit(wait_s), *typed)
    return ("answer", *place, "--", name, *keys)


def tell(name: str, seat: str, *, wait_s: str = "") -> Words:
    """Return the command line that sends a message to a seat's agent; it reads it from stdin."""
    return ("tell", "--role", seat, *_limit(wait_s), "--", name, "-")


def resume(name: str, panes: Words = ()) -> Words:
    """Return the command line that resumes a session.

    ``panes`` are the options that say how panes are opened (`LaunchPolicy.options`).
    """
    return ("resume", "--detach", *panes, *_to_words(name))


def reattach(name: str) -> Words:
    """Return the command line that starts a new orchestrator over the live panes of a session."""
    return ("resume", "--reattach", "--detach", *_to_words(name))


def restart(name: str, seat: str) -> Words:
    """Return the command line that restarts a seat."""
    return ("restart", "--role", seat, *_to_words(name))


def skip(name: str, seat: str) -> Words:
    """Return the command line that skips a check command that could not run in ``seat``."""
    return ("restart", "--skip", "--role", seat, *_to_words(name))


def unpark(name: str) -> Words:
    """Return the command line that ends the waiting of a session's agents for a usage limit."""
    return ("unpark", *_to_words(name))


def stop(name: str) -> Words:
    """Return the command line that stops a session."""
    return ("stop", *_to_words(name))


def remove(name: str) -> Words:
    """Return the command line that removes a session.

    The command refuses to delete work that exists nowhere else.
    """
    return ("remove", "--yes", *_to_words(name))


def start_described(
    *,
    agent: str = "",
    pipeline: str = "",
    place: str = "",
    issue: str = "",
    is_described: bool = True,
    dry_run: bool = False,
) -> Words:
    """Return the command line that starts a session; it reads a description from stdin.

    Args:
        agent: The agent; empty means as configured.
        pipeline: The pipeline; empty means as configured.
        place: ``worktree`` or ``no-worktree``; empty means as configured.
        issue: The issue that the session is about; empty if there is none.
        is_described: Whether there is a description in addition to the issue. Without an issue, a
            description is always read.
        dry_run: Whether the command only shows what it would do.
    """
    named = (("agent", agent), ("pipeline", pipeline), ("issue", issue))
    given = (f"--{name}={text}" for name, text in named if text)
    flags = (*((f"--{place}",) if place else ()), *(("--dry-run",) if dry_run else ()))
    text = ("-",) if is_described or not issue else ()
    return ("start", "--detach", "--json", *given, *flags, *text)


def fleet_list() -> Words:
    """Return the command line that lists the fleet as JSON."""
    return ("fleet", "list", "--json")


def fleet_show(feature: str) -> Words:
    """Return the command line that shows a feature of the fleet as JSON."""
    return ("fleet", "show", "--json", "--", feature)


def fleet_approve(feature: str, digest: str) -> Words:
    """Return the command line that approves a feature's result that was shown with this digest."""
    return ("fleet", "approve", "--yes", "--digest", digest, "--", feature)


def fleet_request_changes(feature: str, digest: str) -> Words:
    """Return the command line that requests changes of a feature; it reads the text from stdin."""
    return ("fleet", "request-changes", "--digest", digest, "--", feature, "-")


def fleet_retry(feature: str) -> Words:
    """Return the command line that retries a feature of the fleet that has failed."""
    return ("fleet", "retry", "--", feature)


def fleet_attach(feature: str) -> Words:
    """Return the command line that attaches this terminal to a feature's session."""
    return ("fleet", "attach", "--", feature)


def fleet_cancel(feature: str) -> Words:
    """Return the command line that cancels a feature of the fleet."""
    return ("fleet", "cancel", "--yes", "--", feature)


def fleet_drain(host: str) -> Words:
    """Return the command line that makes a host of the fleet accept no more features."""
    return ("fleet", "drain", "--", host)


def _to_words(name: str) -> Words:
    """Return the name of a session, after ``--`` if it looks like an option."""
    return ("--", name) if name.startswith("-") else (name,)


def _limit(wait_s: str) -> Words:
    return ("--timeout", wait_s) if wait_s else ()
