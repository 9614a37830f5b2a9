"""A real tmux terminal whose sessions tests address by their ids.

Calls about one of our sessions go through `agentmux.adapters.tmux.own_session.OwnTmux`, as in the
program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from agentmux.adapters.tmux.client import TmuxReply
from agentmux.adapters.tmux.own_session import OwnTmux
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.core.agents.environment import Change
from agentmux.overriding import override
from agentmux.ports.tmux.terminal import Arranged, CreatedSession, NewPane, Pane, Screen, Target
from tests.fakes.terminal import FakeTerminal


class Bench(TmuxTerminal):
    """A private tmux server; calls with a pane id use the session that was created last."""

    _last: Target | None = None

    @override
    def create_session(
        self,
        *,
        name: str,
        uuid: str,
        path: str = "",
        cwd: Path,
        size: tuple[int, int],
        argv: Sequence[str],
    ) -> CreatedSession:
        made = super().create_session(
            name=name, uuid=uuid, path=path, cwd=cwd, size=size, argv=argv
        )
        self._last = made.target
        return made

    def run(self, *words: str, stdin: str | None = None) -> TmuxReply:
        """Run any tmux command on the server."""
        return self._client.run(*words, stdin=stdin)

    def of(self, session: str) -> OwnTmux:
        """Return the session with this id, or a handle of a missing session if there is none."""
        listing = self.listing()
        uuid = next((each.uuid for each in listing.sessions if each.id == session), "-")
        return self.own(Target(server=listing.server, session=session, uuid=uuid))

    def last(self) -> OwnTmux:
        """Return the session that was created last."""
        return self.of("$0") if self._last is None else self.own(self._last)

    def reopen_monitor(self, session: str, *, cwd: Path, argv: Sequence[str]) -> str:
        return self.of(session).reopen_monitor(cwd=cwd, argv=argv)

    def panes(self, session: str) -> tuple[Pane, ...]:
        return self.of(session).panes()

    def open_panes(self, session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        return self.of(session).open_panes(panes)

    def arrange(self, session: str, visible: Sequence[str]) -> Arranged:
        return self.of(session).arrange(visible)

    def set_environment(self, session: str, change: Change) -> None:
        self.of(session).set_environment(change)

    def kill_session(self, session: str, words: str = "") -> None:
        self.of(session).kill(words)

    def go_to(self, session: str, pane: str) -> bool:
        return self.of(session).go_to(pane)

    def set_options(
        self, session: str, options: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.of(session).set_options(options, panes)

    def tell_clients(self, session: str, text: str) -> None:
        self.of(session).tell_clients(text)

    def label(self, labels: Mapping[str, str]) -> None:
        self.last().label(labels)

    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        return self.last().capture(panes, colours=colours)

    def type_text(self, pane: str, text: str) -> None:
        self.last().type_text(pane, text)

    def paste(self, pane: str, text: str) -> None:
        self.last().paste(pane, text)

    def press_enter(self, pane: str) -> None:
        self.last().press_enter(pane)

    def press_keys(self, pane: str, keys: Sequence[str]) -> None:
        self.last().press_keys(pane, keys)

    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        self.last().close_panes(panes, vacate=vacate)


Flat = Bench | FakeTerminal
"""A terminal whose sessions are addressed by their ids: the real one, or the fake."""
