"""No hint loses work: each message that names a command is followed to the letter by a test."""

import re
from typing import Final

from tests.house.effects import HARMLESS, LOOKS, changing, followed
from tests.house.messages import commands_of, messages, messages_of, texts


def test_each_message_with_a_command_that_changes_something_is_followed() -> None:
    known = followed()
    missing = {
        each.text: f"{each.place}: {changing(each)}"
        for each in messages()
        if changing(each) and each.text not in known
    }
    assert not missing, (
        f"{len(missing)} messages that no test follows (@pytest.mark.follows, CONTRIBUTING.md)"
    )


def test_each_message_that_a_test_follows_is_there() -> None:
    written = {each.text for each in messages()}
    assert not {text: tests for text, tests in followed().items() if text not in written}


def test_each_command_that_only_looks_is_named_by_a_message() -> None:
    named = {each.shape for message in messages() for each in message.commands}
    assert not (LOOKS | HARMLESS.keys()) - named


def test_no_command_of_git_writes_over_files_that_git_ignores() -> None:
    bare = [
        f"{name}:{line}: {words}"
        for name, line, text in texts()
        for words in _BARE.findall(text)
        if name != "core/names/words/git_commands.py"
    ]
    assert not bare, "write them by core/names/words/git_commands.py"
    seen = "git switch x; git -C … merge y && … switch --detach x, … checkout -b z"
    assert len(_BARE.findall(seen)) == 4
    safe = "git merge --continue, git switch --detach, git merge --ff-only --no-overwrite-ignore x"
    assert not _BARE.findall(safe)


_BARE: Final = re.compile(
    r"(?:\bgit|…)(?: -C \S+)? (?:switch|merge|checkout|pull)\b"
    r"(?! --(?:continue|abort|(?:detach|create NAME)(?= ?[&,;\)`']|$)|[^&;]*no-overwrite-ignore))"
)
"""A command of git that writes files, and may write over one that git ignores."""


def test_commands_in_one_line_can_be_pasted_as_they_are() -> None:
    """A shell takes ``then`` for the name of a program, or for a word of the command before."""
    joined = re.compile(r"^(?:agentmux|git) [^`\n]*?, then (?:agentmux|git|…)")
    assert not {
        each.text
        for each in messages()
        for command in each.commands
        if joined.search(each.text[each.text.index(command.text) :])
    }, "two lines, or &&: core/names/words/session_commands.py"
    assert joined.search("agentmux stop x, then agentmux resume x")


def test_no_word_of_a_command_begins_with_an_equals_sign() -> None:
    """zsh, unlike other shells, replaces a bare ``=NAME`` by the path of the program NAME."""
    bare = re.compile(r"(?<!\S)=(?=[\w…-])")
    assert not {
        each.text for each in messages() for command in each.commands if bare.search(command.text)
    }, "quote it: ports/tmux/terminal.py, quote_target"
    assert bare.search("tmux attach -t =…")
    assert not bare.search("tmux attach -t …; TERM=… x; tmux attach -t '=…:'")


def test_a_new_message_is_seen() -> None:
    source = 'raise BlockedError("it is taken", hints=(f"move it: mv {path} {path}.old",))'
    (message,) = messages_of(source, "new.py")
    assert message.text == "move it: mv … ….old"
    assert changing(message) == ("mv … ….old",)


def test_each_command_of_a_message_is_found() -> None:
    text = (
        "finish it, or: git merge --abort; then `agentmux approve x --keep`, or git -C a b status"
    )
    assert [each.shape for each in commands_of(text)] == [
        "git merge --abort",
        "agentmux approve --keep",
    ]
    assert not list(commands_of("git could not merge; tmux session x is live; the agentmux of x"))
