"""No hint loses work: each message that names a command is followed to the letter by a test."""

from tests.house.effects import HARMLESS, LOOKS, changing, followed
from tests.house.messages import commands_of, messages, messages_of


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
