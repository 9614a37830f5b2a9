"""Every command that a face runs for a person is one that the command line takes."""

from __future__ import annotations

import pytest

from agentmux.core.config.settings import WorktreeMode
from agentmux.core.conversation.launch_policy import LaunchPolicy
from agentmux.core.decisions.workplace import workplace_choices
from agentmux.core.terminal.keys.key_commands import DESK
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.text import command_words
from agentmux.core.terminal.text.command_words import Words
from tests.cli.fast.test_commands_data import parse

NAME = "20260101-101500-add-auth"
CHOSEN = LaunchPolicy(
    fresh=("coder-1", "coder-2"), shell=("coder-3",), stopped=("coder-4",), agreed={"coder-1": "d1"}
)
WORDS: dict[str, tuple[Words, ...]] = {
    "attach": (command_words.attach(NAME),),
    "approve": (command_words.approve(NAME, "d1"),),
    "request-changes": (
        command_words.request_changes(NAME, "", ""),
        command_words.request_changes(NAME, "planning", "d1"),
    ),
    "diff": (command_words.diff(NAME),),
    "answer": (command_words.answer(NAME, "coder-1", ("Enter", "--help"), "d1"),),
    "tell": (command_words.tell(NAME, "coder-1"),),
    "unpark": (command_words.unpark(NAME),),
    "resume": (
        command_words.resume(NAME),
        command_words.resume(NAME, CHOSEN.options),
        command_words.reattach(NAME),
    ),
    "restart": (command_words.restart(NAME, "coder-1"),),
    "stop": (command_words.stop(NAME),),
    "remove": (command_words.remove(NAME),),
    "start": (
        command_words.start_described(dry_run=True),
        *(
            command_words.start_described(agent="demo", pipeline="quick", place=place)
            for place, _ in workplace_choices(WorktreeMode.AUTO)[1:]
        ),
    ),
}


def test_every_command_of_the_table_has_its_words() -> None:
    assert WORDS.keys() == {each.runs for each in KEYS.lines_at(*DESK) if each.runs}


@pytest.mark.parametrize("command", WORDS)
def test_the_words_are_a_command_that_is_taken(command: str) -> None:
    for words in WORDS[command]:
        assert words[0] == command
        parse(f"agentmux {' '.join(words)}")


def test_an_approval_and_an_answer_are_of_what_was_shown() -> None:
    assert "--digest d1" in " ".join(command_words.approve(NAME, "d1"))
    assert "--screen d1" in " ".join(command_words.answer(NAME, "coder", ("y",), "d1"))


def test_a_name_that_looks_like_an_option_is_none() -> None:
    for words in (command_words.stop("-x"), command_words.resume("-x"), command_words.remove("-x")):
        assert words[-2:] == ("--", "-x")
