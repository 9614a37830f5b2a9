import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.text.captured_screen import plain
from agentmux.overriding import override
from agentmux.web.pages.markup import colour_rules, diff_class, markdown, screen

EVIL = "<script>alert(1)</script>"


class _Reader(HTMLParser):
    """Collects the text and the elements of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    @override
    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> _Reader:
    made = _Reader()
    made.feed(str(html))  # `Markup` would escape what is added to it
    made.close()
    return made


@pytest.mark.parametrize("before", ["", "\x1b[31m", "\x1b[7;38;5;200m"])
def test_a_screen_is_text(before: str) -> None:
    html = screen(f"{before}{EVIL} & \"'\x1b[0m\n<b onclick=x>", 80, 24)
    found = read(html)
    assert {tag for tag, _ in found.elements} <= {"span"}
    assert found.text.startswith(f"{EVIL} & \"'")


@pytest.mark.parametrize(
    ("sgr", "classes"),
    [
        ("31", "f1"),
        ("97", "f15"),
        ("42", "b2"),
        ("101", "b9"),
        ("38;5;200", "f200"),
        ("48;2;0;135;255", "b33"),
        ("31;42;7", "f2 b1"),
        ("7", "fback bfront"),
        ("3;4;9", "italic under strike"),
    ],
)
def test_colours_are_classes(sgr: str, classes: str) -> None:
    (element,) = read(screen(f"\x1b[{sgr}mx", 80, 24)).elements
    assert element == ("span", {"class": classes})
    for name in re.findall(r"\b[fb]\d+\b", classes):
        assert f".{name}{{" in colour_rules()


@pytest.mark.parametrize("sgr", ["7", "44", "4", "31;7", "48;5;200"])
def test_blanks_that_are_seen_stay_at_the_end(sgr: str) -> None:
    """Such as a bar at the bottom; other empty rows are left out."""
    found = read(screen(f"x\n\n\x1b[{sgr}m   \x1b[0m\n  \n\x1b[3;31m  \x1b[0m\n", 80, 24))
    assert found.text == "x\n\n   "


@given(
    st.lists(
        st.one_of(
            st.text(alphabet="a<>&\"' é\n\t─", max_size=8),
            st.sampled_from(["\x1b[0m", "\x1b[1;31m", "\x1b[48;5;7m", "\x1b[7m", "\x0e", "\x0f"]),
            st.sampled_from(["\x1b]0;t\x07", "\x1b[2J", "\x9b", "\x1b]8;;http://x\x1b\\"]),
        ),
        max_size=20,
    ).map("".join)
)
def test_the_text_of_a_screen_is_that_of_the_terminal(ansi: str) -> None:
    found = read(screen(ansi, 80, 24))
    wanted = "\n".join(plain(ansi, 80, 24)).rstrip("\n")
    assert "\n".join(each.rstrip() for each in found.text.split("\n")).rstrip("\n") == wanted
    assert all(tag == "span" and set(given) == {"class"} for tag, given in found.elements)


def test_markdown_is_rendered_without_html_and_images() -> None:
    text = (
        f"# T\n\n{EVIL}\n\n![i](http://evil.example/x.png)\n\n|a|\n|-|\n|b|\n\n[l](https://x.org)"
    )
    html = markdown(text)
    tags = {tag for tag, _ in read(html).elements}
    assert tags <= {"h1", "p", "a", "table", "thead", "tbody", "tr", "th", "td"}
    assert {"h1", "table", "a"} <= tags
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x"]
)
def test_markdown_links_run_nothing(address: str) -> None:
    assert "href" not in markdown(f"[a]({address}) [b]: {address}\n\n<{address}>")


@pytest.mark.parametrize(
    ("line", "name"),
    [("+x", "added"), ("-x", "taken"), ("@@ -1 +1 @@", "hunk"), ("+++ b/x", "file"), (" x", "")],
)
def test_lines_of_a_diff_have_classes(line: str, name: str) -> None:
    assert diff_class(line) == name
