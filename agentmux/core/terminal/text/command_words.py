"""The command lines that a user interface runs for the user, without ``agentmux``. Pure.

In all functions, ``name`` is the name of a session, ``feature`` the id of a feature of the fleet,
and ``digest`` the digest of what the user was shown. ``wait_s`` is how many seconds a command waits
for its result; empty means the command's own default.
"""

from __future__ import annotations

from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


def attach(name: str) -> Words:
    """Return the arguments of ``agentmux`` to attach this terminal to the session ``name``."""
    return ("attach", *_to_words(name))


def diff(name: str) -> Words:
    """Return the arguments of ``agentmux`` to show a session's changes in the pager of git."""
    return ("diff", *_to_words(name))


def approve(name: str, digest: str, *, way: str = "", wait_s: str = "") -> Words:
    """Return the arguments of ``agentmux`` to approve the result that was shown with this digest.

    The command does not ask. It confirms what the commit leaves out (nested repositories, commits
    on other branches) and what a merge brings back, because the user was shown that, too.

    Args:
        name: The session.
        digest: The digest of what was shown.
        way: How the result is delivered, such as ``merge``; empty means as configured.
        wait_s: How many seconds the command waits for the outcome; empty means its default.
    """
    ways = ("--leave-nested", "--leave-commits", "--bring-back", *((f"--{way}",) if way else ()))
    return ("approve", "--yes", *ways, *_limit(wait_s), "--digest", digest, *_to_words(name))


def request_changes(name: str, begins: str, digest: str) -> Words:
    """Return the arguments of ``agentmux`` to request changes; their text is read from stdin.

    Args:
        name: The session.
        begins: The phase in which the next cycle begins; empty means the first one that every
            session goes through.
        digest: The digest of what was shown; empty if nothing was.
    """
    begin = ("--from", begins) if begins else ()
    shown = ("--digest", digest) if digest else ()
    return ("request-changes", "--session", name, *begin, *shown, "-")


def answer(
    name: str, seat: str, keys: Words, digest: str, *, literal: bool = False, wait_s: str = ""
) -> Words:
    """Return the arguments of ``agentmux`` to answer the question on a seat's screen.

    Args:
        name: The session.
        seat: The seat.
        keys: The keys as a user types them: names such as ``Down`` and ``Enter``, or texts.
        digest: The digest of the screen that the user saw.
        literal: Whether all keys are texts, even if they are names of keys.
        wait_s: How many seconds the command waits for the outcome; empty means its default.
    """
    typed = ("--literal",) if literal else ()
    place = ("--role", seat, "--screen", digest, *_limit(wait_s), *typed)
    return ("answer", *place, "--", name, *keys)


def tell(name: str, seat: str, *, wait_s: str = "") -> Words:
    """Return the arguments of ``agentmux`` to send a message, read from stdin, to a seat's agent.

    Args:
        name: The session.
        seat: The seat.
        wait_s: How many seconds the command waits for the outcome; empty means its default.
    """
    return ("tell", "--role", seat, *_limit(wait_s), "--", name, "-")


def resume(name: str, panes: Words = ()) -> Words:
    """Return the arguments of ``agentmux`` to resume a session without attaching to it.

    Args:
        name: The session.
        panes: The options that say how panes are opened, such as ``--fresh-role SEAT``
            (`LaunchPolicy.options`).
    """
    return ("resume", "--detach", *panes, *_to_words(name))


def reattach(name: str) -> Words:
    """Return the arguments of ``agentmux`` to start a new orchestrator for a live session."""
    return ("resume", "--reattach", "--detach", *_to_words(name))


def restart(name: str, seat: str) -> Words:
    """Return the arguments of ``agentmux`` to start a seat again that failed or ended.

    ``name`` is the name of the session.
    """
    return ("restart", "--role", seat, *_to_words(name))


def skip(name: str, seat: str) -> Words:
    """Return the arguments of ``agentmux`` to go on without a check command that could not run.

    Args:
        name: The name of the session.
        seat: The seat of the check command.
    """
    return ("restart", "--skip", "--role", seat, *_to_words(name))


def unpark(name: str) -> Words:
    """Return the arguments of ``agentmux`` to let agents go on that wait for a usage limit.

    It is for all such agents of the session ``name``: they no longer wait for their limits to end.
    """
    return ("unpark", *_to_words(name))


def stop(name: str) -> Words:
    """Return the arguments of ``agentmux`` to stop a session."""
    return ("stop", *_to_words(name))


def remove(name: str) -> Words:
    """Return the arguments of ``agentmux`` to remove a session without asking.

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
    """Return the arguments of ``agentmux`` to start a session; its description is read from stdin.

    The command does not attach to the session, and prints JSON.

    Args:
        agent: The name of the agent for all roles; empty means as configured.
        pipeline: The name of the pipeline; empty means as configured.
        place: ``worktree`` or ``no-worktree``; empty means as configured.
        issue: The number or URL of the issue that the session is about; empty if there is none.
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
    """Return the arguments of ``agentmux`` to list the features and hosts of the fleet as JSON."""
    return ("fleet", "list", "--json")


def fleet_show(feature: str) -> Words:
    """Return the arguments of ``agentmux`` to show a feature, named by its id, as JSON."""
    return ("fleet", "show", "--json", "--", feature)


def fleet_approve(feature: str, digest: str) -> Words:
    """Return the arguments of ``agentmux`` to approve a feature's result without asking.

    ``feature`` is the feature's id, and ``digest`` the digest with which the result was shown.
    """
    return ("fleet", "approve", "--yes", "--digest", digest, "--", feature)


def fleet_request_changes(feature: str, begins: str, digest: str) -> Words:
    """Return the arguments of ``agentmux`` to request changes of a feature.

    The command reads the text of the changes from stdin.

    Args:
        feature: The feature's id.
        begins: The phase in which the next cycle begins; empty means the first one that every
            session goes through.
        digest: The digest with which the result was shown.
    """
    begin = ("--from", begins) if begins else ()
    return ("fleet", "request-changes", *begin, "--digest", digest, "--", feature, "-")


def fleet_retry(feature: str) -> Words:
    """Return the arguments of ``agentmux`` to retry a failed feature, named by its id."""
    return ("fleet", "retry", "--", feature)


def fleet_attach(feature: str) -> Words:
    """Return the arguments of ``agentmux`` to attach this terminal to a feature's session.

    ``feature`` is the feature's id.
    """
    return ("fleet", "attach", "--", feature)


def fleet_cancel(feature: str) -> Words:
    """Return the arguments of ``agentmux`` to cancel a feature, named by its id, without asking."""
    return ("fleet", "cancel", "--yes", "--", feature)


def fleet_drain(host: str) -> Words:
    """Return the arguments of ``agentmux`` to make the host named ``host`` take nothing more."""
    return ("fleet", "drain", "--", host)


def _to_words(name: str) -> Words:
    """Return the name of a session, after ``--`` if it looks like an option."""
    return ("--", name) if name.startswith("-") else (name,)


def _limit(wait_s: str) -> Words:
    return ("--timeout", wait_s) if wait_s else ()
