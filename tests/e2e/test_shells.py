"""Completion in the real shells, each in a pane of a real tmux: what a person sees after Tab."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentmux.cli.main import main
from agentmux.core.names import layout
from tests.conftest import _wait_until

LOGIN, TYPO = "20260101-101500-add-login", "20260102-101500-fix-typo"

ARGV = {
    "bash": "bash --norc --noprofile -i",
    "zsh": "zsh -f -i",
    "fish": "fish --private -i",
}
READY = {
    "bash": "PS1='ready> '; eval \"$(agentmux completion bash)\"",
    "zsh": "PS1='ready> '; fpath=($XDG_DATA_HOME/agentmux/zsh $fpath);"
    " autoload -Uz compinit && compinit -u -D",
    "fish": "function fish_prompt; echo -n 'ready> '; end",
}
"""What makes each shell ready; zsh and fish load what ``--install`` has written."""

TABS = {"bash": 2, "zsh": 1, "fish": 1}
"""How often Tab is pressed until the shell lists what it found."""


class Typist:
    """A shell in a tmux pane, and a person who types into it."""

    def __init__(self, shell: str, socket: Path, folder: Path) -> None:
        self._shell, self._tmux = shell, ("tmux", "-S", str(socket), "-f", "/dev/null")
        size = ("-x", "110", "-y", "24")
        self._ask("new-session", "-d", *size, "-c", str(folder), ARGV[shell])
        _wait_until(self.screen, what="the shell shows a prompt")
        self._ask("send-keys", "-l", READY[shell])
        self._ask("send-keys", "Enter")
        self._cleared()

    def _ask(self, *words: str) -> str:
        argv = [*self._tmux, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout

    def _cleared(self) -> None:
        _wait_until(lambda: "ready> " in f"{self.screen()} ", what=self.screen)
        self._ask("send-keys", "C-l")
        _wait_until(lambda: self.screen() == "ready>", what=self.screen)

    def screen(self) -> str:
        return "\n".join(
            line.rstrip() for line in self._ask("capture-pane", "-p").splitlines()
        ).strip()

    def sees(self, line: str, *shown: str, tabs: int | None = None) -> str:
        """Type a line and Tab; wait until all of ``shown`` is on the screen, then start afresh."""
        self._ask("send-keys", "-l", line)
        _wait_until(lambda: line.strip() in self.screen(), what=self.screen)
        self._ask("send-keys", *["Tab"] * (tabs or TABS[self._shell]))
        _wait_until(lambda: all(each in self.screen() for each in shown), 20, self.screen)
        found = self.screen()
        # No Ctrl-C: bash may see its signal only after it has read keys of the next line.
        self._ask("send-keys", "C-u")
        self._cleared()
        return found

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seats in (
        (LOGIN, '{"coder-1": {}, "reviewer_logic": {}}'),
        (TYPO, '{"planner": {}}'),
    ):
        session = tmp_path / "project" / layout.SESSIONS_DIR / name
        session.mkdir(parents=True)
        (session / layout.STATE).write_text(f'{{"phase": "planning", "seats": {seats}}}')
    (tmp_path / "project" / "special.yaml").touch()
    return tmp_path / "project"


@pytest.fixture
def sit_down(
    short_dir: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Typist]]:
    people: list[Typist] = []
    monkeypatch.setenv("TERM", "xterm-256color")

    def sit_down(shell: str) -> Typist:
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        assert main(["completion", shell, "--install"], os.environ) == 0
        people.append(Typist(shell, short_dir / "s", folder))
        return people[-1]

    yield sit_down
    for each in people:
        each.end()


@pytest.mark.long
@pytest.mark.parametrize("shell", sorted(ARGV))
def test_tab_completes_what_is_typed(sit_down: Callable[[str], Typist], shell: str) -> None:
    person = sit_down(shell)
    person.sees("agentmux st", "start", "status", "stop")
    person.sees("agentmux resume ", "fix-typo", "add-login")
    person.sees("agentmux resume ad", "agentmux resume add-login", tabs=1)
    person.sees("agentmux show add-login --role c", "--role coder-1", tabs=1)
    person.sees("agentmux show add-login --role=c", "--role=coder-1", tabs=1)
    person.sees("agentmux start --role coder=cl", "--role coder=claude", tabs=1)
    person.sees("agentmux start --pipeline qu", "--pipeline quick", tabs=1)
    person.sees("agentmux list --config spec", "--config special.yaml", tabs=1)
