"""The page of a tab: the files of a diff, its colours, and the search in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult

from agentmux.core.documents.diff_comments import diff_places
from agentmux.core.documents.diff_files import diff_files
from agentmux.desk.screens.file_list import FileList, file_line
from agentmux.desk.screens.widgets import PageView
from agentmux.desk.session.code_colours import CodeColours
from agentmux.desk.session.pages import SessionPage
from agentmux.desk.styled import line, plain
from agentmux.overriding import override

KEY_S = 0.1
"""How long a key may take."""


class Bare(App[None]):
    """An application with nothing but a page and a list of files."""

    CSS = "PageView { width: 100; height: 30; }"

    def __init__(self) -> None:
        super().__init__()
        self.view, self.files = PageView(), FileList()

    @override
    def compose(self) -> ComposeResult:
        yield self.files
        yield self.view


def file_lines(name: str, lines: list[str]) -> list[str]:
    return [
        f"diff --git a/{name} b/{name}",
        "new file mode 100644",
        "--- /dev/null",
        f"+++ b/{name}",
        f"@@ -0,0 +1,{len(lines)} @@",
        *(f"+{each}" for each in lines),
    ]


def diff_page(lines: list[str]) -> SessionPage:
    places = tuple(diff_places(lines))
    files = diff_files(lines, places)
    return SessionPage(
        lines=tuple(line(each) for each in lines),
        places=places,
        files=files,
        colours=CodeColours(lines, places, files),
    )


TWO = [
    *file_lines("calc.py", ["def add(a, b):", "    return 'Sum'", *["x = 1"] * 60]),
    *file_lines("read.me", ["a sum of two"]),
]


def looked(page: SessionPage, look: Callable[[PageView], None]) -> None:
    """Call ``look`` with a view that shows a page and has the focus."""

    async def run() -> None:
        app = Bare()
        async with app.run_test(size=(120, 40)):
            app.view.show(page, keeps_place=False)
            app.view.activate(is_active=True)
            look(app.view)

    asyncio.run(run())


def rows(view: PageView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(30)]


def test_a_search_goes_to_the_lines_that_have_it_and_around() -> None:
    def look(view: PageView) -> None:
        view.search("SUM")
        assert (view.cursor, view.hit, len(view.hits)) == (6, 1, 2)
        view.go_to_hit(1)
        assert TWO[view.cursor] == "+a sum of two"
        assert "+a sum of two" in rows(view)
        view.go_to_hit(1)
        assert view.hit == 1
        view.go_to_hit(-1)
        assert view.hit == 2
        view.search("sums")
        assert (view.hits, view.hit) == ((), 0)
        view.go_to_hit(1)
        assert TWO[view.cursor] == "+a sum of two"

    looked(diff_page(TWO), look)


def test_a_hit_is_marked_on_the_selected_line_and_on_others() -> None:
    def look(view: PageView) -> None:
        view.search("add")
        view.move(1)
        drawn = view.render_line(5)
        marked = [each.text for each in drawn if each.style is not None and each.style.reverse]
        assert marked == ["add"]
        view.move(-1)
        drawn = view.render_line(5)
        plain_ = [each.text for each in drawn if each.style is None or not each.style.reverse]
        assert plain_ == ["add"]

    looked(diff_page(TWO), look)


def test_documents_and_screens_are_searched_too() -> None:
    long = [f"line {number}" for number in range(100)]

    def look(view: PageView) -> None:
        view.search("line 7")
        assert (view.hit, len(view.hits)) == (1, 11)
        assert "line 7" in rows(view)
        view.go_to_hit(-1)
        assert any(each.startswith("line 79") for each in rows(view))

    looked(SessionPage(lines=tuple(map(line, long))), look)
    looked(SessionPage(markdown="\n\n".join(long)), look)
    looked(SessionPage(screen=tuple(long)), look)


def test_a_journal_is_searched_with_all_its_values() -> None:
    def look(view: PageView) -> None:
        view.search("line 42")
        assert view.cursor == 42

    whole = tuple(line(f"line {number}") for number in range(100))
    looked(SessionPage(lines=tuple(line("cut") for _ in whole), whole=whole), look)


def test_the_files_of_a_diff_are_gone_to_one_by_one() -> None:
    def look(view: PageView) -> None:
        assert view.file == 0
        view.go_to_file(1)
        assert (view.file, view.cursor) == (1, TWO.index("diff --git a/read.me b/read.me"))
        assert "diff --git a/read.me b/read.me" in rows(view)
        view.go_to_file(2)
        assert (view.file, rows(view)[0]) == (0, "diff --git a/calc.py b/calc.py")

    looked(diff_page(TWO), look)


def test_code_is_coloured_once_its_language_is_loaded() -> None:
    page = diff_page(["note", *TWO, "+", "-gone"])
    colours = page.colours
    assert colours is not None
    assert colours.parts(6) is None
    colours.load()
    assert colours.parts(6) == (
        *(("+", "green bold"), ("def", "magenta"), (" ", ""), ("add", "bold"), ("(", "")),
        *(("a", ""), (",", ""), (" ", ""), ("b", ""), (")", ""), (":", "")),
    )
    for number, text in enumerate(TWO, start=1):
        parts = colours.parts(number)
        assert parts is None or plain(parts) == text
    readme = TWO.index("+a sum of two") + 1
    assert [colours.parts(each) for each in (0, 1, 5, readme)] == [None] * 4


def test_a_long_line_goes_on_in_the_next_row_with_its_colours() -> None:
    code = f"x = '{'longer_' * 30}'"
    page = diff_page(file_lines("a.py", [code]))
    assert page.colours is not None
    page.colours.load()

    def look(view: PageView) -> None:
        drawn = rows(view)[5:8]
        assert [each[:2] for each in drawn] == ["+x", "  ", "  "]
        assert "".join(each if not at else each[2:] for at, each in enumerate(drawn)) == f"+{code}"
        second = [
            each.text.strip() for each in view.render_line(6) if each.style and each.style.color
        ]
        assert second

    looked(page, look)


def test_a_diff_of_twenty_thousand_lines_answers_each_key_at_once() -> None:
    """By the time of the processor, because other tests run at the same time."""
    code = [f"def part_{number}(x): return 'text {number}' + str(x)" for number in range(20_000)]
    page = diff_page([*file_lines("big.py", code), *file_lines("small.py", ["y = 1"])])
    assert page.colours is not None
    page.colours.load()

    def look(view: PageView) -> None:
        for key in (
            lambda: view.move(1),
            lambda: view.move(1_000_000),
            lambda: view.move(-2_000),
            lambda: view.search("text 7777"),
            lambda: view.go_to_hit(1),
            lambda: view.go_to_file(1),
        ):
            took = []
            for _ in range(3):
                began = time.process_time()
                key()
                rows(view)
                took.append(time.process_time() - began)
            assert min(took) < KEY_S

    looked(page, look)


def test_the_list_of_files_is_there_where_there_is_room_and_something_to_choose() -> None:
    files = diff_page(TWO).files

    async def run() -> None:
        app = Bare()
        async with app.run_test(size=(120, 40)) as pilot:
            app.files.show(files, 1, 100)
            await pilot.pause()
            assert app.files.display
            shown = [app.files.render_line(y).text.rstrip() for y in range(3)]
            assert shown == ["A calc.py +62", "A read.me +1", ""]

    asyncio.run(run())


@pytest.mark.parametrize(("count", "room"), [(2, 60), (1, 100), (0, 100)])
def test_the_list_of_files_is_hidden_where_it_is_of_no_use(count: int, room: int) -> None:
    async def run() -> None:
        app = Bare()
        async with app.run_test(size=(120, 40)):
            app.files.show(diff_page(TWO).files[:count], 0, room)
            assert not app.files.display

    asyncio.run(run())


def test_a_path_that_is_too_long_keeps_its_end() -> None:
    (file,) = diff_page(file_lines("a/very/long/path/to/it.py", ["x"])).files
    assert len(plain(file_line(file, 20))) == 20
    assert plain(file_line(file, 20)).endswith("to/it.py +1")
