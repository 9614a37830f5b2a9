"""A user's own keys and theme come from the user's own file, and a mistake in it is told."""

from __future__ import annotations

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.desk_pane import opened


def own(project: Project, text: str) -> None:
    folder = project.home / "config" / "agentmux"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(text)


@pytest.mark.long
def test_the_desk_has_the_keys_and_the_theme_of_the_users_file(
    project: Project, wait_until: WaitUntil
) -> None:
    own(project, "desk: {theme: nord, keys: {new: Ctrl-N, quit: [Q, F10]}}\n")
    with opened(project, wait_until) as desk:
        desk.shows("Ctrl-N new", "Q quit")
        assert "48;" in desk.tmux("capture-pane", "-p", "-e", "-t", "desk")
        desk.press("q", "C-n")
        desk.shows("What should be built?")
        desk.press("Escape")
        desk.lacks("What should be built?")
        desk.press("F10")
        desk.shows("ended 0")
    own(project, "desk:\n  keys: {quit: a}\n")
    said = project.fails(7, "config")
    assert "config.yaml:2: `a` in `desk.keys` is the key of `quit` and of `approve`" in said
