"""Comments on lines of a diff, and the places that they name."""

from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.documents.diff_comments import LineComment, change_request, diff_places

DIFF = """\
diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,3 @@ def add
 kept
-old
-older
+new
\\ No newline at end of file
@@ -12,2 +10,2 @@
--- is no file here
+++ nor here
 last
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-was
diff --git a/a b.py b/a b.py
similarity index 100%
""".splitlines()


def test_every_line_of_a_file_has_a_place_of_its_own() -> None:
    places = list(diff_places(DIFF))
    assert places == [
        *("", "", "", "", ""),
        *("calc.py:1", "calc.py:2 (removed)", "calc.py:3 (removed)", "calc.py:2", ""),
        *("", "calc.py:12 (removed)", "calc.py:10", "calc.py:11"),
        *("", "", "", "", "gone.py:1 (removed)"),
        *("", ""),
    ]
    named = [each for each in places if each]
    assert len(set(named)) == len(named)


def test_a_name_that_git_quotes_has_no_quotes() -> None:
    lines = ('--- "a/s/q\\"t.py"', '+++ "b/s/q\\"t.py"', "@@ -1 +1 @@", "-was", "+is")
    assert list(diff_places(lines)) == ["", "", "", 's/q\\"t.py:1 (removed)', 's/q\\"t.py:1']


def test_a_note_above_a_diff_has_no_place() -> None:
    assert list(diff_places(("nothing was committed", "nothing has changed"))) == ["", ""]


@given(st.lists(st.text(max_size=20) | st.sampled_from(DIFF)))
def test_whatever_the_lines_are_each_has_one_answer(lines: list[str]) -> None:
    assert len(list(diff_places(lines))) == len(lines)


def test_a_request_names_the_place_of_each_comment_and_ends_with_the_text() -> None:
    comments = {
        "calc.py:2": LineComment(text="name it better\nand test it", line="+  x = 1 "),
        "calc.py:9": LineComment(text=" ", line="+y = 1"),
        "calc.py:11": LineComment(text="why?", line="+"),
    }
    held = "calc.py:2 “x = 1”: name it better\n  and test it\ncalc.py:11: why?"
    assert change_request(comments) == held
    whole = f"{held}\nuse orjson"
    assert change_request(comments, "use orjson\n") == whole
    assert change_request({}) == ""


def test_a_long_line_is_quoted_in_short() -> None:
    comments = {"calc.py:2 (removed)": LineComment(text="keep it", line=f"-{'x' * 200}")}
    assert change_request(comments) == f"calc.py:2 (removed) “{'x' * 79}…”: keep it"
