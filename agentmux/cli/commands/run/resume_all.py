"""``agentmux resume --all``: resumes every session that is not done, as after a reboot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentmux.app.result import SessionProblem, envelope, problem_of, worst
from agentmux.app.session.search.lookup import SessionEntry, live
from agentmux.cli import render
from agentmux.cli.ask.person import person_at
from agentmux.cli.ask.session_argument import unfinished_sessions
from agentmux.cli.commands.run.start import begun_fields, doing
from agentmux.core.names.words.counts import format_count
from agentmux.errors import AgentmuxError, NotFoundError, UsageError, data_error_from

if TYPE_CHECKING:
    from agentmux.app.commands.resume.orchestrator_start import StartedSession
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation
    from agentmux.core.conversation.launch_policy import LaunchPolicy

ResumeOne = Callable[[SessionEntry, "LaunchPolicy | None"], "StartedSession"]
"""Resumes one session, and opens its panes as the person agreed; None if nobody was asked.

A session whose panes are left without an orchestrator gets a new one.
"""
AskAll = Callable[["World", Sequence[SessionEntry]], "Mapping[str, LaunchPolicy]"]
"""Asks a person about sessions; returns how to open the panes of each, by its name."""

_WITH: Final = frozenset({"--detach", "--fresh", "--json"})


def require_for_all(switches: Mapping[str, bool], values: Mapping[str, object]) -> None:
    """Check that the options that were given make sense together with ``--all``.

    Args:
        switches: Whether each option without a value was given, by its name, such as ``--json``.
        values: The values of each other option; None or empty if it was not given.

    Raises:
        UsageError: An option is only for a single session.
    """
    given = [*(name for name, on in switches.items() if on), *(n for n, v in values.items() if v)]
    single = [name for name in given if name not in _WITH]
    if single:
        raise UsageError(
            f"{single[0]} is for one session, not for --all",
            hints=("see what --all would do: agentmux resume --all --dry-run",),
        )


def resume_all(
    invocation: Invocation, one: ResumeOne, ask: AskAll, *, yes: bool, json: bool
) -> int:
    """Resume each session that is not done and has no orchestrator; ask once, attach to none.

    If one session cannot be resumed, the others are resumed all the same. If the person says no to
    a question about one session, the command ends, and prints which sessions were resumed before.

    Args:
        invocation: The global options.
        one: Takes a session and the launch policy to which the person agreed; resumes the session.
            The policy is None if nobody was asked, or if ``ask`` left the session out.
        ask: Takes the world of the project and sessions. Asks a person about them; returns the
            launch policy of each, by the session's name. Called only if a person can be asked and
            has not given ``--yes``.
        yes: Whether the person has agreed beforehand (``--yes``).
        json: Whether to print JSON.

    Returns:
        The worst exit code of all resumes; 0 if all sessions were resumed.

    Raises:
        NotFoundError: No session can be resumed.
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
    """
    world = invocation.world()
    resting = _resting(world)
    person = person_at(invocation, yes=yes)
    if not person.is_asked:
        names = ", ".join(each.name for each in resting)
        person.agree(f"Resume {format_count(len(resting), 'session')}: {names}?")
    agreed = ask(world, resting) if person.is_asked else {}
    begun: list[dict[str, Any]] = []
    problems: list[SessionProblem] = []
    try:
        for entry in resting:
            try:
                begun.append(_report_resumed(world, one(entry, agreed.get(entry.name)), json=json))
            except (AgentmuxError, OSError) as error:
                known = data_error_from(error) if isinstance(error, OSError) else error
                problems.append(problem_of(entry.name, known))
    finally:  # after a no or Ctrl-C, too, print which sessions were resumed
        if json:
            render.as_json(envelope(begun, problems))
        else:
            render.show_problems(problems)
    return worst(each.code for each in problems)


def _report_resumed(world: World, session: StartedSession, *, json: bool) -> dict[str, Any]:
    """Print that a session was resumed; return its part of the JSON answer."""
    for warning in session.news:
        render.note(f"warning: {warning}")
    if not json:
        render.out(f"session {session.name} {doing(session)}")
    return begun_fields(world, session)


def _resting(world: World) -> tuple[SessionEntry, ...]:
    """Return the sessions that are not done and have no orchestrator; print which ones are live."""
    entries = unfinished_sessions(world, command="resume")
    lives = live(world, entries)
    running = [e for e in entries if lives[e.path].live and not lives[e.path].is_left_alone]
    for each in running:
        render.note(f"session {each.name} is live already")
    resting = tuple(each for each in entries if each not in running)
    if not resting:
        raise NotFoundError("nothing to resume", hints=("agentmux list",))
    return resting
