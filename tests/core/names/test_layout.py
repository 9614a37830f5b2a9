"""Slugs, session names and paths."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.names import layout


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Add auth", "add-auth"),
        ("  Zoë's façade!  ", "zoe-s-facade"),
        ("../../etc/passwd", "etc-passwd"),
        ("$(rm -rf /) `x` #(touch y)", "rm-rf-x-touch-y"),
        ("-leading", "leading"),
        ("日本語", "feature-a80b52e5"),
        (" 日本語\n", "feature-a80b52e5"),
        ("日本人", "feature-d7d05d01"),
        ("🎉", "feature-6009b837"),
        ("???", "feature-3ece7cbe"),
        ("修复 login 页面", "login"),
        ("", "feature"),
        (" \n", "feature"),
        ("a" * 60, "a" * 48),
        ("word " * 20, "word-word-word-word-word-word-word-word-word"),
        ("Title\nand more", "title-and-more"),
    ],
)
def test_slug(text: str, made: str) -> None:
    assert layout.slug(text) == made


@given(st.text(max_size=300))
def test_a_slug_is_safe_everywhere(text: str) -> None:
    made = layout.slug(text)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", made)
    assert len(made) <= 48
    assert layout.slug(made) == made


@given(
    st.sets(st.text("添加登录出页面を أضف🚀🔥", min_size=1, max_size=40).map(str.strip), max_size=9)
)
def test_texts_without_letters_of_ours_have_names_of_their_own(texts: set[str]) -> None:
    words = {" ".join(each.split()) for each in texts if each}
    assert len({layout.slug(each) for each in words}) == len(words)


def test_a_long_text_costs_no_more() -> None:
    assert layout.slug("x y " * 1_000_000).startswith("x-y-x-y")


NOW = datetime(2026, 1, 1, 10, 15)  # noqa: DTZ001 (local by contract)


def test_a_taken_name_gets_a_number() -> None:
    assert layout.session_name(NOW, "add-auth", ()) == "20260101-101500-add-auth"
    taken = {"20260101-101500-add-auth"}
    assert layout.session_name(NOW, "add-auth", taken) == "20260101-101500-add-auth-2"
    taken.add("20260101-101500-add-auth-2")
    assert layout.session_name(NOW, "add-auth", taken) == "20260101-101500-add-auth-3"


@pytest.mark.parametrize(
    ("name", "slug", "stamp"),
    [
        ("20260101-101500-add-auth", "add-auth", NOW),
        ("20260101-101500-add-auth-2", "add-auth-2", NOW),
        ("20269901-101500-add-auth", "add-auth", None),
        ("my-session", "my-session", None),
        ("20260101-101500", "20260101-101500", None),
    ],
)
def test_the_parts_of_a_name(name: str, slug: str, stamp: datetime | None) -> None:
    assert layout.slug_of(name) == slug
    assert layout.stamp_of(name) == stamp


@given(st.text(max_size=80))
def test_a_made_name_is_read_back(text: str) -> None:
    name = layout.session_name(NOW, layout.slug(text), ())
    assert layout.slug_of(name) == layout.slug(text)
    assert layout.stamp_of(name) == NOW


def test_the_tmux_name_has_nothing_that_tmux_reads_as_a_target() -> None:
    assert layout.tmux_name("20260101-101500-add-auth") == "agentmux-20260101-101500-add-auth"
    assert layout.tmux_name("old.name:1") == "agentmux-old_name_1"


@pytest.mark.parametrize("good", ["auth", "a", "9-lives", "x" * 48])
def test_a_topic(good: str) -> None:
    assert layout.is_topic(good)


@pytest.mark.parametrize("bad", ["", "-a", "A", "a/b", "..", "a b", "x" * 49, "a\n", "ä"])
def test_no_topic(bad: str) -> None:
    assert not layout.is_topic(bad)


def test_places() -> None:
    assert layout.snapshot("coder-1") == "snapshots/coder-1.json"
    assert layout.launch("abc") == "launches/abc"
    assert layout.checkpoint("coder-1") == "checkpoints/coder-1"
    assert layout.history(2, 1) == "history/2.1"
    assert layout.research("code", "auth") == "03_research/code-auth"


NAMES = (
    "20260101-101500-add-rate-limits-to-the-api",
    "20260101-101501-add-rate-limits-to-the-page",
    "20260101-101502-fix-it",
    "20260101-101503-fix-it",
    "20260101-101504-quote-names-with-colons",
    "by-hand",
)


def test_a_short_name_is_the_slug_unless_another_session_has_the_same() -> None:
    assert layout.short_names(NAMES) == {
        each: each if "fix-it" in each else layout.slug_of(each) for each in NAMES
    }


def test_a_long_name_is_cut_to_first_words_that_no_other_session_has() -> None:
    assert list(layout.beginnings(NAMES, 16).values()) == [
        "20260101-101500",
        "20260101-101501",
        "20260101-101502",
        "20260101-101503",
        "quote-names-with",
        "by-hand",
    ]
    assert list(layout.beginnings(NAMES, 40).values()) == list(layout.short_names(NAMES).values())
    assert list(layout.beginnings(NAMES, 8).values()) == [
        "20260101-101500",
        "20260101-101501",
        "20260101-101502",
        "20260101-101503",
        "quote",
        "by-hand",
    ]
    twins = ("20260101-101500-add-auth-now", "20260101-101500-add-auth-then")
    assert list(layout.beginnings(twins, 8).values()) == ["add-auth-now", "add-auth-then"]


def test_a_session_is_told_apart_from_a_new_one_of_its_name() -> None:
    assert layout.name_beside("20260101-080000-fix-it", "fix-it") == "20260101-080000"
    assert layout.name_beside("20260101-080000-fix-it", "fix") == "20260101-080000-fix-it"
    assert layout.name_beside("", "fix") == ""
