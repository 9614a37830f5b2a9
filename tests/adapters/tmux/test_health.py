"""What real tmux says about the settings that do harm."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agentmux.adapters.tmux.health import tmux_facts
from agentmux.ports.tmux.terminal import TerminalUnreachableError
from tests.fakes.bench import Bench

SLEEP = ("sleep", "600")
HARM = """\
set -s escape-time 5000
set -g prefix None
set-hook -g client-attached 'kill-pane -a'
bind -n y kill-server
bind -n C-y kill-server
bind -n M-Up kill-server
"""


def test_without_a_server_none_is_started(short_dir: Path) -> None:
    facts = tmux_facts(str(short_dir / "s"))
    assert facts.version.startswith("tmux ")
    assert (facts.pid, facts.options, facts.plain_keys) == (0, {}, ())
    assert not (short_dir / "s").exists()


def test_the_settings_of_a_running_server(tmux: Bench, tmp_path: Path) -> None:
    (tmp_path / "tmux.conf").write_text(HARM)
    tmux.run("new-session", "-d", "-s", "user", *SLEEP)
    tmux.run("source-file", str(tmp_path / "tmux.conf"))
    facts = tmux_facts(tmux.socket)
    assert facts.pid == tmux.server().pid
    assert facts.options["escape-time"] == "5000"
    assert facts.options["prefix"] == "None"
    assert dict(facts.hooks)["client-attached[0]"] == "kill-pane -a"
    assert facts.plain_keys == ("y",)


def test_nothing_is_in_the_way_without_a_configuration(tmux: Bench) -> None:
    tmux.run("new-session", "-d", "-s", "user", *SLEEP)
    assert tmux_facts(tmux.socket).plain_keys == ()


def test_a_server_that_hangs_is_said(tmux: Bench) -> None:
    tmux.run("new-session", "-d", "-s", "user", *SLEEP)
    pid = tmux.server().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(TerminalUnreachableError):
            tmux_facts(tmux.socket)
    finally:
        os.kill(pid, signal.SIGCONT)
