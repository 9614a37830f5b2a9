"""Judges a project: its agents, its trust, and what its sessions have left."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.commands.end.remove import (
    besides_words,
    lost_words,
    removable_worktree,
    ways_to_keep,
)
from agentmux.app.commands.look.agents import AgentReport, list_agents
from agentmux.app.doctor.finding import DoctorFinding, Repair, fine, problem, to_finding, warning
from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    list_sessions,
    live,
    sessions_dir,
)
from agentmux.app.session.search.lost_sessions import homeless_sessions, lost_sessions, what_ended
from agentmux.app.session.search.orchestrator_version import other_version_label
from agentmux.core.agents.spec import Registry, how_to_install
from agentmux.core.config.settings import OWN_ADDRESSES, Settings
from agentmux.core.config.trust import select_trusted
from agentmux.core.names.agent_names import SHELL, is_for_tests
from agentmux.core.names.phase import ROLES
from agentmux.errors import AgentmuxError, BlockedError
from agentmux.ports.tmux.terminal import Target

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.ports.tmux.terminal import Pane, TmuxSession


def agent_findings(world: World, registry: Registry) -> Iterator[DoctorFinding]:
    """Yield findings about each agent: whether it is installed, answers, asks for permission.

    Installed programs are run, as by `list_agents`. One finding names all agents that are neither
    installed nor used.
    """
    used = {
        world.agents.spec(world.settings.choose_player(role, {}, {}).agent).name for role in ROLES
    }
    absent = []
    for report in list_agents(world, registry).data:
        name = report.spec.name
        if is_for_tests(name) or (name == SHELL and name not in used):
            continue
        if report.probe.installed:
            yield _there(report, is_used=name in used)
        elif name in used:
            program = report.spec.command[0]
            text = f"{name} is to play roles here, but `{program}` is not on PATH"
            yield problem("agents", text, how_to_install(report.spec))
        else:
            absent.append(name)
    if absent:
        yield fine("agents", f"not installed: {', '.join(absent)}")


def _there(report: AgentReport, *, is_used: bool) -> DoctorFinding:
    name, spec = report.spec.name, report.spec
    if report.probe.problem:
        say = problem if is_used else warning
        return say("agents", f"{name}: {report.probe.problem}", f"agentmux agents probe {name}")
    if report.successor:
        text = f"{name} {report.version}".strip() + f": {report.successor}"
        return warning("agents", text, how_to_install(spec))
    comes = (
        "its conversations come back" if report.resumes else "a resume starts a new conversation"
    )
    asks = ""
    if is_used and spec.permission_args:
        asks = f"; runs with {shlex.join(spec.permission_args)}"
    elif is_used and spec.unattended_args:
        asks = "; asks for permission before it acts"
    mark = "plays here, " if is_used else ""
    return fine("agents", f"{name} {report.version}".strip() + f": {mark}{comes}{asks}")


def trust_findings(world: World) -> Iterator[DoctorFinding]:
    """Yield one finding: which parts of the project's files have no effect without trust.

    A part is a setting or a prompt that needs the user's trust. If there is no such part, or all
    are trusted, the finding says so.
    """
    parts = world.consent.trust.parts()
    there = select_trusted(parts, world.consent.trust.trusted_parts())
    left_out = [part.key for part in parts if part.key not in there]
    if left_out:
        text = f"without effect, as you have not trusted it: {', '.join(left_out)}"
        yield warning("trust", text, "agentmux trust --show")
    else:
        says = "what the project says about what runs here is trusted"
        yield fine("trust", says if parts else "the project says nothing about what runs here")


def claim_findings(world: World) -> Iterator[DoctorFinding]:
    """Yield one finding, that agents can lock their conversations, as each launch does.

    Raises:
        AgentmuxError: They cannot: the folder of these locks cannot be written.
    """
    world.agents.claims.require_writable()
    yield fine("claims", "agents can lock their conversations")


def session_findings(site: Site) -> Iterator[DoctorFinding]:
    """Yield findings about sessions: what they have left, and which of them need their user."""
    entries = list_sessions(site)
    alive = live(site, entries)
    yield fine("sessions", f"{len(entries)} in this project")
    for entry in entries:
        yield from _session(site, entry, alive[entry.path])
    for trace in lost_sessions(site):
        name = Path(trace.path).name
        yield warning("leftovers", what_ended(trace), f"agentmux status {name}")
    here = {entry.text("session_id") for entry in entries}
    for trace in homeless_sessions(site):
        if trace.session not in here:  # else the project was moved
            place = shlex.quote(trace.path)
            yield warning("leftovers", what_ended(trace), f"agentmux status {place}")
    yield from _halves(site)
    yield from _strangers(site)


def worktree_findings(world: World) -> Iterator[DoctorFinding]:
    """Yield findings about finished sessions that still have a worktree or a branch.

    Each session with work that is nowhere else has a finding; one more names all the others.
    """
    free = []
    for entry in list_sessions(world):
        ended = entry.is_done and not entry.is_moved
        try:
            there = removable_worktree(world, entry) if ended else None
        except BlockedError as error:  # it is locked or was moved
            mend = next(iter(error.hints), "")
            yield warning("leftovers", f"{entry.name} is done: {error.message}", mend)
            continue
        if there is None:
            continue
        spec, lost = there
        if lost:
            text = f"{entry.name} is done, but has work that is nowhere else"
            mend = next(ways_to_keep(world, entry, lost, spec))
            yield warning("leftovers", f"{text}: {lost_words(lost, spec)}", mend)
        else:
            free.append(f"{entry.name}{besides_words(lost)}")
    if free:
        text = f"finished sessions have a worktree or a branch still: {', '.join(free)}"
        yield warning("leftovers", text, "agentmux prune")


def _session(site: Site, entry: SessionEntry, found: Liveness) -> Iterator[DoctorFinding]:
    if found.error is not None:
        yield to_finding("sessions", found.error)
    elif found.way_back:
        yield problem("sessions", f"{entry.name}: {found.because}", found.way_back[0])
    elif found.is_left_alone and not entry.is_done:
        text = f"{entry.name}: its agents run, but its orchestrator is gone"
        yield warning("sessions", text, f"agentmux resume {entry.name} --reattach")
    if found.other_version is not None:
        text = f"{entry.name}: {other_version_label(found.other_version)}; stop and resume it"
        yield warning("sessions", text, f"agentmux stop {entry.name}")
    starters = site.folders.starters(entry.path)
    if starters and not any(site.locks.is_alive(pid, started) for pid, started in starters):
        text = f"{entry.name}: a killed command has left a pipe"
        yield warning("leftovers", text, "agentmux doctor --fix", Repair.PIPES)


def _halves(site: Site) -> Iterator[DoctorFinding]:
    folder = sessions_dir(site.project)
    for path in site.folders.leftovers(folder):
        text = f"{path} is what an interrupted removal has left"
        yield warning("leftovers", text, "agentmux doctor --fix", Repair.REMOVALS)
    for path in site.folders.half_made(folder, site.now().timestamp()):
        text = f"{path} is what a killed start has left"
        yield warning("leftovers", text, "agentmux doctor --fix", Repair.HALF_MADE)


def _strangers(site: Site) -> Iterator[DoctorFinding]:
    """Yield the tmux sessions of AgentMux whose session directories are gone."""
    terminal = site.terminal(None)
    try:
        listing = terminal.listing()
    except AgentmuxError:
        return  # the check of tmux says it
    for each in listing.sessions:
        if each.uuid and each.path and not Path(each.path).is_dir():
            target = Target(server=listing.server, session=each.id, uuid=each.uuid)
            with suppress(AgentmuxError):  # it has just ended
                commands = _commands_to_end(each, terminal.own(target).panes())
                text = f"tmux session {each.name} is of a session whose directory is gone"
                mend = f"tmux -S {shlex.quote(terminal.socket)} {commands}"
                if commands:
                    yield warning("leftovers", f"{text} ({each.path})", mend)


def _commands_to_end(session: TmuxSession, panes: Iterable[Pane]) -> str:
    """Return tmux's commands that end a session, but none of the panes that the user opened.

    Empty if only such panes are left in it.
    """
    known = tuple(panes)
    if all(pane.is_ours for pane in known):
        return f"kill-session -t {shlex.quote(session.id)}"
    return r" \; ".join(f"kill-pane -t {pane.id}" for pane in known if pane.is_ours)


def repairs_of(findings: Iterable[DoctorFinding]) -> tuple[Repair, ...]:
    """Return the repairs that ``--fix`` would do for these findings, each once."""
    return tuple(dict.fromkeys(each.repair for each in findings if each.repair is not None))


def notify_findings(settings: Settings, install: str) -> Iterator[DoctorFinding]:
    """Yield one finding: at which addresses the user is notified, and whether Apprise is missing.

    Args:
        settings: The settings with the addresses.
        install: The command that installs Apprise; empty if it is installed.
    """
    shown = (
        ", ".join(dict.fromkeys(map(str, settings.occasions_by_address)))
        or "nobody, since `notify` is empty"
    )
    if install and any(each.value not in OWN_ADDRESSES for each in settings.occasions_by_address):
        text = f"Apprise is missing, so not every address can be told: {shown}"
        yield warning("notify", text, install)
    else:
        yield fine("notify", f"told when a session needs you: {shown} (agentmux notify --test)")
