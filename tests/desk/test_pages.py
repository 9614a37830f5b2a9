"""The words of the commands behind the keys, and commands in messages on the tabs."""

import os
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.conversation.launch_policy import LaunchPolicy
from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.terminal.text import command_words
from agentmux.desk.list.reading import SessionReader
from agentmux.desk.session.pages import SessionPages
from agentmux.desk.styled import plain
from agentmux.wiring import build
from tests.cli.picker.picker_lab import make_session
from tests.desk.test_listing import row


def test_a_command_names_its_session_and_what_was_shown() -> None:
    rests = row("rests", SessionStatus.STOPPED)
    assert command_words.approve(rests.name, "d1")[-3:] == ("--digest", "d1", rests.name)
    asked = command_words.request_changes(rests.name, "", "")
    assert asked == ("request-changes", "--session", rests.name, "-")
    answered = command_words.answer(rests.name, "coder-1", ("-x", "Enter"), "d2")
    assert answered[-4:] == ("--", rests.name, "-x", "Enter")
    panes = LaunchPolicy(fresh=("coder-1", "coder-2"), agreed={"coder-1": "d3"})
    resumed = command_words.resume(rests.name, panes.options)
    assert ("--agreed", "coder-1=d3") in pairwise(resumed)
    assert resumed.count("--fresh-role") == 2
    assert "--reattach" in command_words.reattach(rests.name)
    assert command_words.start_described()[-1] == "-"


@pytest.mark.parametrize(
    ("tab", "text", "is_told"),
    [("overview", "Phases", True), ("why", "resumes in", True), ("why", "cannot tell", False)],
)
def test_commands_in_messages_are_completed_for_who_reads_them(
    tmp_path: Path, tab: str, text: str, is_told: bool
) -> None:
    environ = {**os.environ, **({"TMUX_TMPDIR": str(tmp_path)} if is_told else {})}
    path = make_session(tmp_path, "20260101-090000-fix-crash")
    reader = SessionReader(
        partial(build.site, config=None, environ=environ),
        partial(build.world, config=None, environ=environ, read_only=True),
    )
    pages = SessionPages(reader, lambda said, project: said.replace(text, f"in {project}: {text}"))
    page = pages.page(replace(row("fix-crash"), path=path, project=tmp_path), tab)
    assert f"in {tmp_path}: {text}" in "\n".join(map(plain, (*page.lines, *page.more)))
