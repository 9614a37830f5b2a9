"""Asks a person, once, whether to resume sessions, and how to open the panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.adapters.disk.files import read_limited
from agentmux.app.session.search.lookup import entry_at
from agentmux.app.views.outlook import plan_outlook
from agentmux.cli import render
from agentmux.cli.ask.person import agrees
from agentmux.cli.picker import screen
from agentmux.core.codec.frozen import replace
from agentmux.core.names.conversations import first_choice
from agentmux.core.names.words.counts import format_count
from agentmux.errors import DeclinedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux.app.commands.resume.resume_consent import ResumeQuestion
    from agentmux.app.views.outlook import Outlook
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation
    from agentmux.cli.picker.screen import ShownPlans
    from agentmux.core.conversation.launch_policy import LaunchPolicy
    from agentmux.core.names.conversations import SeatChoice


def ask_resume(invocation: Invocation, world: World, question: ResumeQuestion) -> LaunchPolicy:
    """Show what the resume of one session would do, and ask for consent; return its launch policy.

    The launch policy says how the resume opens the session's panes. Nothing is resumed here.

    Args:
        invocation: The global options.
        world: The session's project.
        question: What the resume would do, and how its panes would be opened. The person may choose
            otherwise for each seat.

    Raises:
        DeclinedError: The person said no.
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    given, name = question.panes, question.plan.path.name
    outlook = plan_outlook(world, question.plan, read_limited)
    chosen = {
        (name, index): given.choice(each.seat)
        for index, each in enumerate(outlook.seats)
        if given.choice(each.seat) in each.digests
    }
    shown = screen.ShownPlans(
        entries=(entry_at(world, question.plan.path),),
        look=lambda _: outlook,
        steps=tuple(each.words for each in question.steps),
        chosen=chosen,
    )
    panes = ask_about(invocation, world, shown)[name]
    return replace(panes, fresh=(*given.fresh, *panes.fresh))


def ask_about(
    invocation: Invocation, world: World, shown: ShownPlans
) -> Mapping[str, LaunchPolicy]:
    """Ask whether to resume the shown sessions; return the launch policy of each, by its name.

    A launch policy says how a resume opens the session's panes. Sessions that cannot be resumed are
    shown, but left out of the result. Nothing is resumed here.

    Raises:
        DeclinedError: The person said no.
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    if screen.can_draw(invocation.environ):
        answer = screen.ask(world, shown)
        if answer is None:
            raise DeclinedError
        return answer
    looks = [shown.look(each.name) for each in shown.entries]
    plans = {each.name: (each, _choices(shown, each)) for each in looks}
    for outlook, choices in plans.values():
        for line in _lines(outlook, choices, shown.steps):
            render.note(line)
    which = "this session" if len(plans) == 1 else f"these {format_count(len(plans), 'session')}"
    if not agrees(f"Resume {which}?", usual=True):
        raise DeclinedError
    return {name: each.agree(chosen) for name, (each, chosen) in plans.items() if not each.refused}


def _choices(shown: ShownPlans, outlook: Outlook) -> Mapping[str, SeatChoice]:
    """Return what was chosen before for each seat of a session."""
    return {
        each.seat: shown.chosen.get(
            (outlook.name, index), first_choice(each.digests, fresh=shown.fresh)
        )
        for index, each in enumerate(outlook.seats)
    }


def _lines(
    outlook: Outlook, choices: Mapping[str, SeatChoice], steps: tuple[str, ...]
) -> Iterator[str]:
    """Yield the plan of one session, as lines for a terminal that cannot be drawn on."""
    if outlook.refused:
        yield f"{outlook.name} cannot be resumed: {outlook.refused}"
        return
    yield f"{outlook.name} resumes in {outlook.phase} ({outlook.because})"
    for each in outlook.seats:
        yield f"  {each.seat}: {each.describe(choices[each.seat])}"
    for text in (*steps, *outlook.warnings):
        yield f"  ! {text}"
