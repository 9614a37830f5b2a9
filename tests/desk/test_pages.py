"""The words of the commands behind the keys."""

from pathlib import Path

from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.terminal import command_words
from tests.desk.test_listing import row


def test_a_command_names_its_session_and_what_was_shown() -> None:
    rests = row("rests", SessionStatus.STOPPED)
    assert command_words.approve(rests.name, "d1")[-3:] == ("--digest", "d1", rests.name)
    asked = command_words.request_changes(rests.name, "", "")
    assert asked == ("request-changes", "--session", rests.name, "-")
    answered = command_words.answer(rests.name, "coder-1", ("-x", "Enter"), "d2")
    assert answered[-4:] == ("--", rests.name, "-x", "Enter")
    resumed = command_words.resume(rests.name, ("coder-1", "coder-2"))
    assert resumed.count("--fresh-role") == 2
    assert "--reattach" in command_words.resume(rests.name, (), reattach=True)
    assert command_words.start(str(Path("/tmp/f")))[-1] == "@/tmp/f"
