"""The files of a diff: how each changed, where it begins, and which line of it is meant."""

from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.documents.diff_comments import diff_places
from agentmux.core.documents.diff_files import DiffFile, diff_files, file_at, line_at

DIFF = """\
a note above it
diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,3 @@ def add
 kept
-old
-older
+new
@@ -12,2 +10,2 @@
--- is no file here
+diff --git a/x b/x
 last
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-was
diff --git a/a b.png b/a b.png
new file mode 100644
Binary files /dev/null and b/a b.png differ
diff --git a/one b/two
similarity index 100%
rename from one
rename to two
diff --git "a/q\\"t.py" "b/q\\"t.py"
--- "a/q\\"t.py"
+++ "b/q\\"t.py"
@@ -1 +1,2 @@
 kept
+new
""".splitlines()
PLACES = tuple(diff_places(DIFF))
FILES = diff_files(DIFF, PLACES)


def test_each_file_says_how_it_changed_and_where_it_begins() -> None:
    wanted = (
        DiffFile(path="calc.py", at=1, kind="M", added=2, removed=3),
        DiffFile(path="gone.py", at=14, kind="D", added=0, removed=1),
        DiffFile(path="a b.png", at=20, kind="A", added=0, removed=0),
        DiffFile(path="two", at=23, kind="R", added=0, removed=0),
        DiffFile(path='q\\"t.py', at=27, kind="M", added=1, removed=0),
    )
    assert wanted == FILES


def test_a_line_belongs_to_the_file_that_begins_before_it() -> None:
    assert [file_at(FILES, line) for line in (0, 1, 13, 14, 22, 32)] == [0, 0, 0, 1, 2, 4]
    assert file_at((), 7) == 0


def test_a_line_of_the_diff_is_found_in_the_file_as_it_is_now() -> None:
    at = {DIFF[line]: line_at(FILES, PLACES, line) for line in (1, 6, 7, 9, 11, 13, 20, 30)}
    assert at == {
        "diff --git a/calc.py b/calc.py": 1,
        " kept": 1,
        "-old": 2,
        "+new": 2,
        "--- is no file here": 10,
        " last": 11,
        "diff --git a/a b.png b/a b.png": 0,
        "@@ -1 +1,2 @@": 1,
    }
    assert line_at(FILES, PLACES, 15) == 0  # the file is gone
    assert line_at((), ("", ""), 0) == 0


@given(st.lists(st.text(max_size=20) | st.sampled_from(DIFF)))
def test_whatever_the_lines_are_every_file_begins_with_its_header(lines: list[str]) -> None:
    files = diff_files(lines, tuple(diff_places(lines)))
    assert all(lines[each.at].startswith("diff --git ") for each in files)
    assert [each.at for each in files] == sorted({each.at for each in files})
