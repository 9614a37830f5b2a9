"""Which of the caller's environment variables a session inherits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.agents.environment import environment_change, inherited_variables

SERVER = {"PATH": "/bin", "TMUX": "/s,1,0", "TERM": "tmux-256color", "OLD": "1", "SAME": "x"}
SHELL = {"PATH": "/new:/bin", "TERM": "xterm", "KEY": "secret", "SAME": "x", "_": "/usr/bin/env"}


def test_what_the_shell_has_counts_and_what_is_the_panes_stays() -> None:
    made = environment_change(SERVER, inherited_variables(SHELL))
    assert made.values == {"PATH": "/new:/bin", "KEY": "secret"}
    assert made.unset == ("OLD",)
    assert made.apply_to(SERVER) == {
        "PATH": "/new:/bin", "TMUX": "/s,1,0", "TERM": "tmux-256color", "SAME": "x",
        "KEY": "secret",
    }  # fmt: skip


def test_who_calls_in_another_pane_is_not_handed_on() -> None:
    said = {"AGENTMUX_SEAT": "coder", "AGENTMUX_DEMO_HOME": "/h", "BASH_FUNC_x%%": "() { :; }"}
    assert inherited_variables(said) == {"AGENTMUX_DEMO_HOME": "/h"}
    assert not environment_change({"AGENTMUX_SESSION_ID": "u"}, {})


OF_ONE_PANE = """
TMUX TMUX_PANE TERM COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION COLUMNS LINES PWD OLDPWD SHLVL STY
WINDOWID _
"""


@pytest.mark.parametrize("name", OF_ONE_PANE.split())
def test_what_tells_of_one_pane_is_neither_handed_on_nor_taken_away(name: str) -> None:
    assert inherited_variables({name: "1"}) == {}
    assert not environment_change({name: "1"}, {})


NAMES = st.sampled_from(
    ["PATH", "KEY", "TERM", "TMUX", "AGENTMUX_SEAT", "AGENTMUX_DEMO_HOME", "a%"]
)
ENVIRONMENTS = st.dictionaries(NAMES, st.text(max_size=3))


@given(ENVIRONMENTS, ENVIRONMENTS)
def test_a_change_is_made_once(own: dict[str, str], shell: dict[str, str]) -> None:
    after = environment_change(own, inherited_variables(shell)).apply_to(own)
    assert inherited_variables(after) == inherited_variables(shell)
    assert not environment_change(after, inherited_variables(shell))
