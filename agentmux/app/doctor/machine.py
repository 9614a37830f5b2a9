"""Judges the facts about tmux, the terminal, the system and the disk; pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from agentmux.app.doctor.finding import DoctorFinding, fine, problem, warning
from agentmux.core.names.words.counts import abbreviate_names

if TYPE_CHECKING:
    from agentmux.ports.health import DiskFacts, SystemFacts, TerminalFacts, TmuxFacts

_SLOW_MS: Final = 500
"""The default ``escape-time`` of older tmux versions; above it, the Esc key seems not to work."""
_HISTORY: Final = 100
_FULL_BYTES: Final = 64 << 20
_LOW_BYTES: Final = 1 << 30
_FILES: Final = 10_000
_COLUMNS, _ROWS = 80, 23  # a terminal of 24 rows, and a status line of tmux
_ENDING: Final = ("kill-", "respawn-", "detach-client")


def tmux_findings(facts: TmuxFacts) -> Iterator[DoctorFinding]:
    """Yield findings about tmux: its server, and user settings that do harm.

    AgentMux works under nearly all settings (its tests set dozens of odd ones at once); only the
    others are reported.
    """
    running = f"server {facts.pid} answers" if facts.pid else "no server runs, a start makes one"
    yield fine("tmux", f"{facts.version}; {running} at {facts.socket}")
    server = f"tmux -S {shlex.quote(facts.socket)}"
    if facts.options.get("exit-unattached") == "on":
        text = "`exit-unattached on` ends tmux while nobody is attached, and every agent with it"
        yield problem("tmux", text, f"{server} set-option -s exit-unattached off")
    if facts.options.get("prefix") == "None":
        text = "`prefix None`: no key leaves a session of AgentMux again"
        yield warning("tmux", text, f"{server} set-option -g prefix C-b")
    if _number(facts.options.get("escape-time")) > _SLOW_MS:
        text = f"`escape-time {facts.options['escape-time']}`: the Esc key takes that long (ms)"
        yield warning("tmux", text, f"{server} set-option -s escape-time 20")
    if 0 <= _number(facts.options.get("history-limit")) < _HISTORY:
        text = f"`history-limit {facts.options['history-limit']}`: one cannot scroll back in panes"
        yield warning("tmux", text, f"{server} set-option -g history-limit 5000")
    if facts.options.get("default-terminal", "tmux").startswith(("vt", "ansi", "dumb")):
        text = f"`default-terminal {facts.options['default-terminal']}`: agents show no colours"
        yield warning("tmux", text, f"{server} set-option -s default-terminal tmux-256color")
    yield from _in_the_way(facts, server)


def _in_the_way(facts: TmuxFacts, server: str) -> Iterator[DoctorFinding]:
    """Yield findings about hooks and keys that affect the panes of agents."""
    for name, command in facts.hooks:
        if command.startswith(_ENDING):
            text = f"your hook {name} runs `{command}`, also on sessions of AgentMux"
            yield warning("tmux", text, f"{server} set-hook -gu {shlex.quote(name)}")
    for key in facts.plain_keys:
        text = f"tmux takes the key {key} before any program sees it, also from agents"
        yield warning("tmux", text, f"{server} unbind-key -n {shlex.quote(key)}")


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else -1


def terminal_findings(facts: TerminalFacts) -> Iterator[DoctorFinding]:
    """Yield findings about this command's terminal, or that it has none."""
    if facts.size is None:
        yield fine("terminal", "this command has no terminal, which is enough for scripts and CI")
        return
    columns, rows = facts.size
    yield fine("terminal", f"{facts.term or 'unknown'}, {columns} columns and {rows} rows")
    if facts.term in {"", "dumb"}:
        text = "TERM does not name a terminal, so that neither tmux nor colours work"
        yield problem("terminal", text, "export TERM=xterm-256color")
    elif "color" not in facts.term and not facts.colour_term and "direct" not in facts.term:
        text = f"TERM={facts.term} may have few colours or none"
        yield warning("terminal", text, "export TERM=xterm-256color")
    if not facts.is_utf8:
        text = "the locale is not UTF-8, so lines and marks are shown as other characters"
        yield warning("terminal", text, "export LC_ALL=C.UTF-8")
    if columns < _COLUMNS or rows < _ROWS:
        yield warning("terminal", f"the monitor needs {_COLUMNS} columns and {_ROWS} rows")


def host_findings(facts: SystemFacts) -> Iterator[DoctorFinding]:
    """Yield findings on whether logging out ends the sessions, and enough files can be watched."""
    if facts.kills_at_logout and not facts.lingers:
        text = "logging out ends tmux and every agent (KillUserProcesses=yes, and no lingering)"
        yield warning("system", text, f"loginctl enable-linger {shlex.quote(facts.user)}")
    else:
        yield fine("system", "logging out ends no session")
    if facts.watches is None:
        return
    used, instances, watches = facts.watches
    if used + 8 > instances:
        text = f"{used} of {instances} inotify instances are used: changes may be noticed late"
        yield warning("system", text, "sudo sysctl fs.inotify.max_user_instances=1024")
    if watches < 8192:
        text = f"only {watches} inotify watches are allowed"
        yield warning("system", text, "sudo sysctl fs.inotify.max_user_watches=65536")


def disk_findings(facts: DiskFacts) -> Iterator[DoctorFinding]:
    """Yield findings about the file system of the sessions: writable, nearly full, on a network."""
    if not facts.is_writable:
        yield problem("disk", f"{facts.path} cannot be written: no session can be kept there")
    elif facts.free_bytes < _FULL_BYTES or (facts.free_files or _FILES) < 100:
        yield problem("disk", f"{facts.path} is full: {_size(facts)}", f"df -h {_word(facts)}")
    elif facts.free_bytes < _LOW_BYTES or (facts.free_files or _FILES) < _FILES:
        yield warning(
            "disk", f"{facts.path} is nearly full: {_size(facts)}", f"df -h {_word(facts)}"
        )
    else:
        yield fine("disk", f"{facts.path} can be written, {_size(facts)}")
    if facts.network:
        text = f"{facts.path} is on a network file system ({facts.network}): locks may not hold"
        yield warning("disk", text)


def _word(facts: DiskFacts) -> str:
    return shlex.quote(facts.path)


def _size(facts: DiskFacts) -> str:
    return f"{facts.free_bytes / (1 << 30):.1f} GiB are free"


def lost_worktrees(
    listed: str, staged: Callable[[str], tuple[str, ...]] = lambda _: ()
) -> Iterator[DoctorFinding]:
    """Yield one finding for all worktrees that are not where git looks for them; none if all are.

    If the HEAD of some was detached, there is instead one finding for each of these, because their
    commits may be lost with git's entry for the worktree.

    Args:
        listed: The output of ``git worktree list --porcelain`` (git-worktree(1)).
        staged: Takes the path of a worktree. Returns the files that are staged in it, which would
            be lost with git's entry, too. Without it, no file counts as staged.
    """
    entries = [block.splitlines() for block in listed.split("\n\n") if "\nprunable " in block]
    for lines in entries:
        if "detached" in lines:
            place, commit = lines[0].removeprefix("worktree "), lines[1].removeprefix("HEAD ")
            text = (
                f"the worktree {place} is not there, and its commit {commit[:12]} may be on no"
                " branch"
            )
            yield warning("git", text, f"git branch NAME {commit}")
    if entries and not any("detached" in lines for lines in entries):
        lost = [lines[0].removeprefix("worktree ") for lines in entries]
        places = ", ".join(f"{each}{_with_staged(staged(each))}" for each in lost)
        text = (
            f"moved, deleted or not mounted: {places}; to forget what was deleted, with all that is"
            " staged for it: git worktree prune"
        )
        yield warning("git", text, "git worktree repair NEW_PATH")


def _with_staged(names: tuple[str, ...]) -> str:
    return f" (staged there: {abbreviate_names(names)})" if names else ""
