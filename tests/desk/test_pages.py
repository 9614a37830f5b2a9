"""The places in a diff, and the words of the commands behind the keys."""

from pathlib import Path

from agentmux.core.names.status_labels import SessionStatus
from agentmux.core.terminal import command_words
from agentmux.desk.pages import _places
from tests.desk.test_listing import row

DIFF = """\
diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,3 +1,3 @@ def add
 kept
-old
+new
\\ No newline at end of file
@@ -10,2 +10,2 @@
--- is no file here
+++ nor here
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-was
diff --git a/a b.py b/a b.py
similarity index 100%
""".splitlines()


def test_every_line_of_a_diff_has_its_place_in_the_new_file() -> None:
    assert list(_places(tuple(DIFF))) == [
        *("", "", "", ""),
        *("calc.py:1", "calc.py:1", "calc.py:2", "calc.py:2", ""),
        *("calc.py:10", "calc.py:10", "calc.py:10"),
        *("", "", "", "gone.py:0", ""),
        *("", ""),
    ]


def test_a_note_above_a_diff_has_no_place() -> None:
    assert list(_places(("nothing was committed", "nothing has changed"))) == ["", ""]


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
    assert command_words.start(str(Path("/tmp/f")))[-2:] == ("--file", "/tmp/f")
