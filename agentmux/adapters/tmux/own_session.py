"""Works in one tmux session of AgentMux: its panes, clients, options and screens.

Every call of `OwnTmux` begins with a guard (`commands.guard`): tmux itself compares its process id,
the session's id and the uuid that we set on the session with the recorded ones, and drops the rest
of the call if they differ. This is needed because ids such as ``$0`` and ``%7`` are unique within
one server only, and another server may use the socket by now.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes.processes import left_after
from agentmux.adapters.tmux import commands as tmux_commands
from agentmux.adapters.tmux.client import (
    NAME_IN_USE,
    NO_SERVER,
    NO_SPACE,
    NO_TARGET,
    SERVER_WENT,
    TOO_LONG,
    TmuxClient,
    TmuxReply,
)
from agentmux.core.agents.environment import Change
from agentmux.core.codec.frozen import replace
from agentmux.ports.tmux.terminal import (
    Arranged,
    Client,
    HiddenServerError,
    LeaveKeys,
    NewPane,
    Pane,
    Screen,
    Target,
    TerminalError,
    TerminalGoneError,
)

_ARRANGE_TRIES: Final = 3
_GOING_S: Final = 0.2
_ELSEWHERE = re.compile(rf"{tmux_commands.ELSEWHERE}-(\d+)")


class OwnTmux:
    """One tmux session of AgentMux.

    If the tmux session is gone, its methods raise `TerminalGoneError`, except for `capture`,
    `close_panes` and `kill`. Implements `ports.tmux.terminal.OwnSession` on a real tmux server.
    """

    def __init__(self, client: TmuxClient, target: Target) -> None:
        self._client = client
        self._target = target

    @property
    def target(self) -> Target:
        """The server, id and uuid of this session."""
        return self._target

    def count_clients(self) -> int:
        return len(self.clients())

    def clients(self) -> tuple[Client, ...]:
        with self._client.parsing():
            return tmux_commands.parse_clients(self._must(self._list_clients).stdout)

    def leave_keys(self) -> LeaveKeys:
        (prefix, *asks), keys = tmux_commands.LEAVE_KEYS
        words = tmux_commands.join([(prefix, "-t", self._target.session, *asks), keys])
        return tmux_commands.parse_leave_keys(self._must(words).stdout)

    @property
    def _list_clients(self) -> tmux_commands.Command:
        return ("list-clients", "-t", self._target.session, "-F", tmux_commands.CLIENT_FORMAT)

    def reopen_monitor(self, *, cwd: Path, argv: Sequence[str]) -> str:
        _, monitor, _ = self._look()
        if monitor:
            place = ("-c", tmux_commands.literal(str(cwd)), "-t", monitor)
            respawn = ("respawn-pane", "-k", *place, "--", *argv)
            # An older version of AgentMux may have created the session without some options.
            self._must(tmux_commands.join([respawn, *tmux_commands.show_status(monitor)]))
            return monitor
        commands = tmux_commands.monitor_window(self._target.session, str(cwd), argv)
        return self._must(tmux_commands.join(commands)).stdout.strip()

    def panes(self) -> tuple[Pane, ...]:
        """Return every pane of the session, including the monitor's, in tmux's order."""
        return self._look()[0]

    def find_pane(self, launch: str) -> str:
        rows = (line.split() for line in self._must(tmux_commands.LAUNCHES).stdout.splitlines())
        return next((row[1] for row in rows if row[0] == launch and len(row) == 2), "")

    def open_panes(self, panes: Sequence[NewPane]) -> Mapping[str, str]:
        pane_ids: dict[str, str] = {}
        left = tuple(panes)
        while left:
            seen = len(pane_ids)
            groups = (tmux_commands.open_pane(self._target.session, pane) for pane in left)
            for _, reply in self._in_batches(groups):
                pane_ids.update(tmux_commands.parse_opened(reply.stdout))
                if reply.returncode:
                    if len(pane_ids) == seen or not reply.says(NO_TARGET):
                        self._client.expect(reply)
                    # A tmux hook of the user renamed the window before the pane was marked.
                    self._mark([pane for pane in left if pane.launch in pane_ids], pane_ids)
                    break
            left = tuple(pane for pane in left if pane.launch not in pane_ids)
        return pane_ids

    def _mark(self, panes: Sequence[NewPane], made: Mapping[str, str]) -> None:
        """Set the options that identify the new panes; ``made`` maps launch ids to pane ids."""
        for _, reply in self._in_batches(
            tmux_commands.mark_pane(made[pane.launch], pane) for pane in panes
        ):
            self._client.expect(reply)

    def arrange(self, visible: Sequence[str]) -> Arranged:
        """Show the panes ``visible`` to the right of the monitor, and move away our other panes.

        A pane that is moved away gets a window of its own; a vacated one is closed instead. Panes
        for which there is no room stay in their windows. If the user has zoomed the window, or if
        there is no monitor, this does nothing. A user who is typing into a pane that is moved
        beside the monitor follows it there; one whose pane is moved away is shown the monitor.

        Args:
            visible: The ids of panes. Panes that are gone, or were not opened by us, are ignored.

        Returns:
            ``size`` is the monitor's size (columns and rows) if all was moved, else None. ``later``
            is true if nothing was moved because of a zoom. If ``size`` is None and ``later`` is
            false, there is no monitor, there was no room for a pane, or panes ended meanwhile.
        """
        for _ in range(_ARRANGE_TRIES):
            panes, monitor, zoomed = self._look()
            if not monitor or zoomed:
                return Arranged(later=zoomed)
            session = self._target.session
            groups = [*_moves(session, panes, monitor, visible), [tmux_commands.size_of(monitor)]]
            reply = self._last(groups)
            if reply.returncode == 0:
                return Arranged(size=tmux_commands.parse_size(reply.stdout))
            if reply.says(NO_SPACE):
                return Arranged()
            if not reply.says(NO_TARGET):
                self._client.expect(reply)
            # A pane ended after `_look`: try again.
        return Arranged()

    def go_to(self, pane: str) -> bool:
        tmux_pane = next((each for each in self._look()[0] if each.id == pane), None)
        if tmux_pane is None:
            return False
        reply = self._run(tmux_commands.join(tmux_commands.go_to(self._target.session, tmux_pane)))
        if reply.says(NO_TARGET):  # the pane ended after `_look`
            return False
        self._client.expect(reply)
        return True

    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        commands = tmux_commands.set_options(self._target.session, session, panes)
        for _, reply in self._in_batches([command] for command in commands):
            self._client.expect(reply)

    def _last(self, groups: Iterable[Sequence[tmux_commands.Command]]) -> TmuxReply:
        """Run the groups until one fails; return the reply to the last call that ran."""
        replies = []
        for _, reply in self._in_batches(groups):
            replies.append(reply)
            if reply.returncode:
                break
        return replies[-1]

    def tell_clients(self, text: str) -> None:
        """Show ``text`` as a message to every client of the server.

        Clients that show this session's monitor are left out, because they see it there; clients
        that leave meanwhile are skipped. tmux removes the message after a few seconds or at a key
        press.
        """
        for call in tmux_commands.messages(
            self._must(tmux_commands.CLIENTS).stdout, text, about=self._target.session
        ):
            self._run(call)

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the text in the border of each pane (pane id to text); missing panes are skipped."""
        groups = (
            [("set-option", "-pq", "-t", pane, tmux_commands.LABEL, tmux_commands.printable(label))]
            for pane, label in labels.items()
        )
        for _, reply in self._in_batches(groups):
            self._client.expect(reply)

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        mark, left = os.urandom(16).hex(), iter(panes)
        screens: dict[str, Screen] = {}
        groups = ([tmux_commands.capture(pane, mark=mark, colours=colours)] for pane in panes)
        with suppress(TerminalGoneError):
            for number, reply in self._in_batches(groups):
                asked = [*islice(left, number)]
                answer = self._client.expect(reply)
                with self._client.parsing():
                    screens.update(
                        tmux_commands.parse_screens(
                            answer.stdout, mark=mark, asked=asked, colours=colours
                        )
                    )
        return screens

    def type_text(self, pane: str, text: str) -> None:
        """Send the characters of ``text`` to the pane; tmux interprets none of them as a key name.

        Enter is not pressed. ``pane`` is the pane's id.
        """
        self._must(
            tmux_commands.join([_leave_modes(pane), ("send-keys", "-l", "-t", pane, "--", text)])
        )

    def paste(self, pane: str, text: str) -> None:
        buffer = f"agentmux-{os.getpid()}-{pane}"
        words = tmux_commands.join(
            [
                _leave_modes(pane),
                ("load-buffer", "-b", buffer, "-"),
                ("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane),
            ]
        )
        reply = self._run(words, stdin=text)
        if reply.returncode:
            self._run(("delete-buffer", "-b", buffer))
        self._client.expect(reply)

    def press_enter(self, pane: str) -> None:
        """Send the key Enter to the pane."""
        self._must(tmux_commands.join([_leave_modes(pane), ("send-keys", "-t", pane, "Enter")]))

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        self._must(tmux_commands.join([_leave_modes(pane), ("send-keys", "-t", pane, "--", *keys)]))

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        session = self._target.session
        with suppress(TerminalGoneError):
            monitor = next((pane for pane in self.panes() if pane.is_monitor), None)
            groups = [
                [
                    *(tmux_commands.focus_monitor(session, pane, monitor) if monitor else ()),
                    tmux_commands.vacate(pane)
                    if pane in vacate
                    else tmux_commands.run_if_exists(pane, f"kill-pane -t {pane}"),
                ]
                for pane in panes
            ]
            for _, reply in self._in_batches(groups):
                self._expect_end(reply)

    def set_environment(self, change: Change) -> None:
        """Change the environment variables that new panes of the session get.

        ``change`` names the variables to set, with their values, and those to unset. The values go
        to tmux through stdin, because every user can see a program's arguments.
        """
        lines = tmux_commands.set_environment(self._target.session, change)
        self._must(("source-file", "-"), stdin=lines)

    def keep_layout(self, window: str) -> None:
        """Make tmux restore the monitor's width whenever the size of the window changes.

        This is optional: tmux before 3.3 refuses it, and the refusal is ignored. ``window`` is the
        id of the monitor's window.
        """
        self._run(tmux_commands.join([tmux_commands.repair_hook(window)]))

    def kill(self, words: str = "") -> str:
        """End the session, but no pane of the user; return the name with which it goes on, if any.

        It is not an error if the session is already gone. Clients that came from another session
        are first switched back to it, or to another session if it is gone, so that they stay in
        tmux; then ``words`` are shown to them. If there is no other session, the clients end, and
        ``words`` are printed in their terminals. Clients that were started from a shell return to
        it, without ``words``. If ``words`` is empty, nothing is shown.

        If the user has opened panes in it, the session keeps these, and all its clients, but
        nothing of ours: see `ports.tmux.terminal.OwnSession.kill`.
        """
        with suppress(TerminalGoneError):
            if all(pane.is_ours for pane in self.panes()):
                self._send_back(words)
            reply = self._run(tmux_commands.join(tmux_commands.end_session(self._target.session)))
            if reply.says((tmux_commands.HAS_USERS_PANES,)):
                return self._leave_to_user(words)
            self._expect_end(reply)
        return ""

    def _send_back(self, words: str) -> None:
        """Switch clients that came from another session back to it, and show them ``words``."""
        clients, homes = (
            self._run(command).stdout for command in (self._list_clients, tmux_commands.HOMES)
        )
        for commands in tmux_commands.ways_back(
            clients, homes, ours=self._target.session, words=words
        ):
            self._run(tmux_commands.join(commands))

    def _leave_to_user(self, words: str) -> str:
        """Kill our panes, show clients ``words``, and take our marks away; return the new name.

        The monitor and the marks go last, in one call: the monitor may be the pane of this very
        process, and until then the session is found, so that an interrupted end is done again.
        """
        session, panes = self._target.session, self.panes()
        name = self._rename_for_user()
        self.close_panes([pane.id for pane in panes if pane.is_ours and not pane.is_monitor])
        told = f"your own panes stay in tmux session {name}"
        for client in self.clients():
            text = f"{words}; {told}" if words else told
            self._run(tmux_commands.join([tmux_commands.message(client.name, text)]))
        for window in {pane.window for pane in panes if pane.is_ours}:
            self._run(tmux_commands.forget_repair(window))  # refused before 3.3, as the hook was
            self._run(tmux_commands.join(tmux_commands.forget_window(window)))
        monitors = (pane.id for pane in panes if pane.is_monitor)
        ends = (tmux_commands.run_if_exists(pane, f"kill-pane -t {pane}") for pane in monitors)
        self._expect_end(
            self._run(tmux_commands.join([*tmux_commands.forget_session(session), *ends]))
        )
        return name

    def _rename_for_user(self) -> str:
        """Give the session the first free name of the user's, and return that name."""
        session = self._target.session
        replies = (
            self._run(tmux_commands.join(tmux_commands.rename_for_user(session, number)))
            for number in count(1)
        )
        reply = next(each for each in replies if not each.says((NAME_IN_USE,)))
        return self._client.expect(reply).stdout.strip()

    def _look(self) -> tuple[tuple[Pane, ...], str, bool]:
        """Return the session's panes, the monitor's pane id, and whether its window is zoomed."""
        words = ("list-panes", "-s", "-t", self._target.session, "-F", tmux_commands.PANE_FORMAT)
        with self._client.parsing():
            return tmux_commands.parse_panes(self._must(words).stdout)

    def _must(self, words: Sequence[str], *, stdin: str | None = None) -> TmuxReply:
        return self._client.expect(self._run(words, stdin=stdin))

    def _in_batches(
        self, groups: Iterable[Sequence[tmux_commands.Command]]
    ) -> Iterator[tuple[int, TmuxReply]]:
        """Run groups of commands in as few calls as possible.

        Yields:
            For each call, the number of groups in it and tmux's reply.
        """
        for batch in tmux_commands.batches(groups):
            yield from self._run_in_halves(batch)

    def _run_in_halves(
        self, batch: Sequence[Sequence[tmux_commands.Command]]
    ) -> Iterator[tuple[int, TmuxReply]]:
        """Run groups in one call; if tmux refuses it as too long, split it in halves, recursively.

        Yields:
            For each call, the number of groups in it and tmux's reply.
        """
        reply = self._run(tmux_commands.join(command for group in batch for command in group))
        if len(batch) > 1 and reply.says(TOO_LONG):
            half = len(batch) // 2
            yield from self._run_in_halves(batch[:half])
            yield from self._run_in_halves(batch[half:])
        else:
            yield len(batch), reply

    def _expect_end(self, reply: TmuxReply) -> None:
        """Check the reply to a command that may have ended the session or the server.

        It is not an error that the session or the server is gone.

        Raises:
            TerminalError: The command failed for another reason.
        """
        if not reply.says((*SERVER_WENT, *NO_TARGET)):
            self._client.expect(reply)

    def _run(self, words: Sequence[str], *, stdin: str | None = None) -> TmuxReply:
        """Run a call in this session only; return the reply, also if its commands failed.

        Raises:
            TerminalGoneError: The session or its server no longer exists.
            TerminalUnreachableError: The server is alive, but does not answer at the socket.
        """
        seen = f"{self._target.uuid}\n"
        reply = self._client.run(
            *tmux_commands.join([tmux_commands.guard(self._target)]), ";", *words, stdin=stdin
        )
        if reply.stdout.startswith(seen):
            return replace(reply, stdout=reply.stdout.removeprefix(seen))
        if reply.says(TOO_LONG):  # tmux ran none of the commands
            return reply
        raise self._find_cause(reply)

    def _find_cause(self, reply: TmuxReply) -> Exception:
        """Return the error for a reply that did not come from this session."""
        server = self._target.server
        other = _ELSEWHERE.search(reply.stderr)
        if other is not None and int(other[1]) == server.pid:
            return TerminalGoneError("the tmux session is gone")
        if other is None and not reply.says((*NO_SERVER, *SERVER_WENT)):
            self._client.expect(reply)
            return self._client.unreadable("it does not begin with our mark")
        # A server that is ending no longer answers, but its process may live for a moment.
        if not left_after([(server.pid, server.started)], wait_s=_GOING_S):
            return TerminalGoneError("the tmux server is gone")
        return HiddenServerError(
            server.socket, server.pid, taken=int(other[1]) if other is not None else 0
        )


def _leave_modes(pane: str) -> tmux_commands.Command:
    """Return a command that leaves copy mode, in which tmux itself would handle the keys.

    Raises:
        TerminalError: ``pane`` is empty: tmux would use the current pane, perhaps the user's.
    """
    if not pane:
        raise TerminalError("there is no pane to type into")
    leave = tmux_commands.text_of(f"copy-mode -q -t {pane}")
    return ("if-shell", "-F", "-t", pane, "#{pane_in_mode}", leave)


def _moves(
    session: str, panes: Sequence[Pane], monitor: str, visible: Sequence[str]
) -> list[list[tmux_commands.Command]]:
    """Return groups of commands after which exactly the panes ``visible`` are beside the monitor.

    Where possible, a coming pane is swapped with a leaving one, so that the monitor keeps its
    width.
    """
    ours = {pane.id: pane for pane in panes if pane.launch or tmux_commands.is_vacant(pane)}
    shown = [pane.id for pane in panes if pane.visible]
    leaving = [ours[pane] for pane in shown if pane in ours and pane not in visible]
    coming = [pane for pane in visible if pane in ours and pane not in shown]
    follows = {before.id: pane for before, pane in zip(leaving, coming, strict=False)}
    beside = next(pane for pane in panes if pane.id == monitor)
    groups = [tmux_commands.focus_monitor(session, each.id, beside) for each in leaving]
    groups += [
        tmux_commands.swap_in(follows[each.id], each) for each in leaving if each.id in follows
    ]
    for each in leaving[len(follows) :]:
        vacant = tmux_commands.is_vacant(each)
        groups.append([("kill-pane", "-t", each.id)] if vacant else tmux_commands.park(each))
        shown.remove(each.id)
    if shown[0] != monitor:
        groups.append([("swap-pane", "-d", "-s", monitor, "-t", shown[0])])
    groups.append(tmux_commands.layout(monitor))
    below = next((follows.get(pane, pane) for pane in reversed(shown) if pane != monitor), monitor)
    for pane in coming[len(follows) :]:
        groups.append(tmux_commands.show(pane, monitor=monitor, below=below))
        below = pane
    followed = (ours[pane] for pane in coming if ours[pane].has_focus)
    groups += [
        tmux_commands.go_to(session, replace(each, window=beside.window)) for each in followed
    ]
    return groups
