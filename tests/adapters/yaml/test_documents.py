"""YAML from agents is read as plain data only, whatever it contains."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentmux.adapters.yaml.documents import DEPTH_MAX, NODES_MAX, front_matter, load_yaml

PLAN = b"""\
# made by an agent
version: 2
needs_design: false
needs_docs: True
doc_files: []
groups:
  - {group_id: core, mode: serial, plans: [{index: 1, name: "API"}]}
overview: |
  Two lines,
  as they are: here.
folded: >-
  one
  line
nothing:
tilde: ~
"""


def test_an_ordinary_document_is_plain_values() -> None:
    loaded = load_yaml(PLAN)
    assert loaded.problems == ()
    assert loaded.value == {
        "version": 2,
        "needs_design": False,
        "needs_docs": True,
        "doc_files": [],
        "groups": [{"group_id": "core", "mode": "serial", "plans": [{"index": 1, "name": "API"}]}],
        "overview": "Two lines,\nas they are: here.\n",
        "folded": "one line",
        "nothing": None,
        "tilde": None,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("off", "off"), ("yes", "yes"), ("on", "on"), ("y", "y"), ("True", True),
        ("false", False), ("0123456", "0123456"), ("12:30:45", "12:30:45"), ("1.0", "1.0"),
        ("1e5", "1e5"), ("0x1f", "0x1f"), ("1_000", "1_000"), ("2026-01-02", "2026-01-02"),
        (".inf", ".inf"), ("=", "="), ("7", 7), ("-7", -7), ("0", 0), ("-0", 0), ("'7'", "7"),
        ('"true"', "true"), ("9" * 30, "9" * 30), ("null", None), ("!!str 7", "7"),
        ("'null'", "null"), ("<<", "<<"),
    ],
)  # fmt: skip
def test_words_mean_what_they_say(text: str, value: object) -> None:
    loaded = load_yaml(f"x: {text}\n".encode())
    assert loaded.problems == ()
    assert loaded.value == {"x": value}
    assert type(loaded.value["x"]) is type(value)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a: 1\nverdict: fail\nverdict: pass\n", "line 3: the key `verdict` appears twice"),
        (b"a: [{b: 1, b: 2}]", "line 1: the key `b` appears twice"),
        (b"a: &x 1\n", "line 1: an anchor"),
        (b"files:\n  - *.py\n", "quote text that begins with `*` or `&`"),
        (b"files:\n  - *all\n", "line 2: an alias"),
        (b"a: !!python/object/apply:os.system ['touch x']", "line 1: a tag"),
        (b"a: !!binary aGk=", "line 1: a tag"),
        (b"a: !local 1", "line 1: a tag"),
        (b"a: !!set {x}", "line 1: a tag"),
        (b"a: 1\n---\nb: 2\n", "line 2: a second document"),
        (b"? [1, 2]\n: x\n", "line 1: a key must be a plain word"),
        (b"a: b: c", "quote text that contains `: `"),
        (b"a: 1\nb: @x", "line 2: found character that cannot start any token; quote"),
        (b"a: [1, 2", "expected ',' or ']'"),
        (b"a:\n\t- b", "line 2: "),
        (b"a: \xff", "byte 3: not UTF-8"),
        (b"a: \0", "control characters"),
        (b"[" * 5000, f"nested over {DEPTH_MAX} levels"),
        (b"{a: " * 5000, f"nested over {DEPTH_MAX} levels"),
        (b"- " * 5000, f"nested over {DEPTH_MAX} levels"),
        (b"- x\n" * (NODES_MAX + 1), f"more than {NODES_MAX} values"),
    ],
)
def test_what_is_not_allowed_is_said_with_its_line(data: bytes, problem: str) -> None:
    loaded = load_yaml(data)
    assert loaded.value is None
    assert any(problem in found for found in loaded.problems), loaded.problems


def test_all_problems_are_listed_at_once() -> None:
    loaded = load_yaml(b"a: &x 1\na: 2\nc: *x\nd: !t 3\n")
    assert [found.partition(":")[0] for found in loaded.problems] == [
        "line 1", "line 2", "line 3", "line 4",
    ]  # fmt: skip


def test_a_bomb_of_aliases_costs_nothing() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for name, inner in zip("bcdefghij", "abcdefghi", strict=True):
        bomb += f"{name}: &{name} [" + ", ".join([f"*{inner}"] * 9) + "]\n"
    before = time.process_time()
    loaded = load_yaml(bomb.encode())
    assert time.process_time() - before < 1
    assert loaded.value is None
    assert len(loaded.problems) == 50


def test_limits_are_reached_but_not_passed() -> None:
    deep = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    assert load_yaml(deep).problems == ()
    wide = b"- x\n" * (NODES_MAX - 1)
    assert load_yaml(wide).problems == ()


@pytest.mark.parametrize("data", [b"", b"# only a comment\n", b"---\n", b"null"])
def test_an_empty_document_is_nothing(data: bytes) -> None:
    assert load_yaml(data).value is None
    assert load_yaml(data).problems == ()


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault() -> None:
    assert load_yaml(b"\xef\xbb\xbfa: 1\r\nb: x\r\n").value == {"a": 1, "b": "x"}


@given(st.binary(max_size=300) | st.text("ab:-[]{}&*!|>'\"#\n \t?,~", max_size=200))
def test_any_bytes_give_plain_values_or_problems(data: bytes | str) -> None:
    loaded = load_yaml(data if isinstance(data, bytes) else data.encode())
    json.dumps(loaded.value)
    assert loaded.value is None or not loaded.problems


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(value=PLAIN)
def test_what_a_writer_of_yaml_makes_comes_back(value: Any) -> None:
    loaded = load_yaml(yaml.safe_dump(json.loads(json.dumps(value))).encode())
    assert loaded.problems == ()
    assert loaded.value == value


def test_front_matter_is_split_from_the_text() -> None:
    text = "---\nreviewers: [logic, expert]\n---\n# Design\n---\nmore\n"
    head, body, problems = front_matter(text)
    assert head == {"reviewers": ["logic", "expert"]}
    assert body == "# Design\n---\nmore\n"
    assert problems == ()


@pytest.mark.parametrize(
    "text", ["", "# Title\n", "---\nno end\n", "text\n---\na: 1\n---\n", "----\na: 1\n----\n"]
)
def test_without_a_head_all_is_text(text: str) -> None:
    assert front_matter(text) == ({}, text, ())


def test_a_head_may_be_empty_end_with_dots_and_have_windows_line_ends() -> None:
    assert front_matter("---\n---\nx") == ({}, "x", ())
    assert front_matter("---\na: 1\n...\nx") == ({"a": 1}, "x", ())
    assert front_matter("\ufeff---\r\na: 1\r\n---\r\nx") == ({"a": 1}, "x", ())
    assert front_matter("---\na: 1\n---") == ({"a": 1}, "", ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\nok: 1\na: b: c\n---\nx", "line 3: mapping values"),
        ("---\nok: 1\nok: 2\n---\nx", "line 3: the key `ok` appears twice"),
        ("---\njust words\n---\nx", "line 2: the front matter is not a mapping"),
    ],
)
def test_a_bad_head_is_reported_with_the_files_own_line(text: str, problem: str) -> None:
    head, body, problems = front_matter(text)
    assert (head, body) == ({}, "x")
    assert problems[0].startswith(problem)
