"""Reading the phase folders: each file counts, or counts as missing with a reason."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentmux.adapters.disk.session.artifacts import read_artifacts
from agentmux.core.documents.review import Verdict, review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import REVIEWERS, Phase
from agentmux.core.pipeline.artifacts import ARCHITECTURE, kept_fix_request, nominations, verdicts
from agentmux.core.pipeline.registry import PHASE_REGISTRY
from agentmux.errors import DataError

PASS = {"verdict": "pass", "summary": "It is right."}
NAMES = tuple(dict.fromkeys(name for role in REVIEWERS for name in review_files(role, alone=True)))


def leave(session: Path, path: str, content: Any) -> None:
    target = session / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def reviewing(*nominated: str) -> SessionState:
    return SessionState(phase=Phase.REVIEWING, reviewer_nominations=nominated)


def said(session: Path, state: SessionState) -> dict[str, Verdict]:
    """Return the verdict of each reviewer."""
    artifacts = read_artifacts(session, state)
    return dict(verdicts(nominations(state, artifacts), artifacts))


@pytest.mark.parametrize("role", REVIEWERS)
@pytest.mark.parametrize("at", range(3))
def test_the_only_reviewer_may_use_each_of_its_names(tmp_path: Path, role: str, at: int) -> None:
    leave(tmp_path, f"{layout.REVIEW}/{review_files(role, alone=True)[at]}", PASS)
    assert said(tmp_path, reviewing(role)) == {role: Verdict.PASS}


@pytest.mark.parametrize("role", REVIEWERS)
@pytest.mark.parametrize("at", range(2))
def test_one_of_several_reviewers_uses_a_name_with_its_role(
    tmp_path: Path, role: str, at: int
) -> None:
    leave(tmp_path, f"{layout.REVIEW}/{review_files(role, alone=False)[at]}", PASS)
    assert said(tmp_path, reviewing(*REVIEWERS)) == {role: Verdict.PASS}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("nominated", [REVIEWERS[:1], REVIEWERS[1:], REVIEWERS], ids=len)
@pytest.mark.parametrize("content", [PASS, {"verdict": "maybe"}, [], b"", b"\xff", b"a: [", 7])
def test_no_review_stops_the_reading_of_the_others(
    tmp_path: Path, name: str, nominated: tuple[str, ...], content: Any
) -> None:
    leave(tmp_path, f"{layout.REVIEW}/{name}", content)
    other = review_files(nominated[-1], alone=False)[1 if "reviewer" not in name else 0]
    leave(tmp_path, f"{layout.REVIEW}/{other}", PASS)
    assert said(tmp_path, reviewing(*nominated))[nominated[-1]] is Verdict.PASS


def test_a_key_that_appears_twice_is_no_verdict_in_json_either(tmp_path: Path) -> None:
    path = f"{layout.REVIEW}/review_logic.yaml"
    leave(tmp_path, path, b'{"verdict": "fail", "summary": "", "verdict": "pass"}')
    artifacts = read_artifacts(tmp_path, reviewing("logic"))
    assert artifacts.verdicts == {}
    assert "appears twice" in artifacts.problems[path]


def test_a_review_of_nobody_counts_for_nobody(tmp_path: Path) -> None:
    leave(tmp_path, f"{layout.REVIEW}/review.yaml", PASS)
    leave(tmp_path, f"{layout.REVIEW}/review_everything.yaml", PASS)
    assert said(tmp_path, reviewing(*REVIEWERS)) == {}
    leave(tmp_path, f"{layout.REVIEW}/review.md", b"Verdict: fail\n")
    assert said(tmp_path, reviewing(*REVIEWERS)) == dict.fromkeys(REVIEWERS, Verdict.FAIL)


def test_the_front_matter_nominates_where_the_state_does_not(tmp_path: Path) -> None:
    leave(tmp_path, f"{layout.ARCHITECTING}/architecture.md", b"---\nreviewers: [expert]\n---\n# A")
    leave(tmp_path, f"{layout.REVIEW}/review.yaml", PASS)
    assert said(tmp_path, reviewing()) == {"reviewer_expert": Verdict.PASS}


# -- files of any kind ---------------------------------------------------------------------------

PLACES = sorted(
    {f"{each.folder}/{name}" for each in PHASE_REGISTRY for name in each.outputs}
    | {f"{layout.REVIEW}/{name}" for name in (*NAMES, "review.md", "fix_request.md")}
    | {f"{layout.PLANNING}/execution_plan.yaml", f"{layout.IMPLEMENTATION}/done_1"}
)
_words = st.sampled_from(
    ["verdict", "pass", "fail", "summary", "findings", "reviewers", "logic", "version", "groups",
     "plans", "index", "file", "plan_1.md", "mode", "serial", "subplan_count", "needs_design"]
)  # fmt: skip
_scalars = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text() | _words
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=5),
    max_leaves=12,
)
_contents = st.one_of(
    st.binary(max_size=40),
    _values.map(lambda value: json.dumps(value).encode()),
    _values.map(lambda value: b"---\n" + json.dumps(value).encode() + b"\n---\n# Text\n"),
)


@settings(max_examples=300)
@given(
    left=st.dictionaries(st.sampled_from(PLACES), _contents, max_size=4),
    nominated=st.lists(st.sampled_from(REVIEWERS), max_size=3, unique=True),
)
@example(left={f"{layout.REVIEW}/review.yaml": b'{"verdict": ["pass"]}'}, nominated=[])
@example(left={f"{layout.REVIEW}/review.yaml": b"{" * 100_000}, nominated=[REVIEWERS[0]])
def test_anything_can_be_read(tmp_path: Path, left: dict[str, bytes], nominated: list[str]) -> None:
    for path in PLACES:
        (tmp_path / path).unlink(missing_ok=True)
    for path, content in left.items():
        leave(tmp_path, path, content)
    artifacts = read_artifacts(tmp_path, reviewing(*nominated))
    unfit = set(artifacts.problems) & {ARCHITECTURE}
    assert set(artifacts.sizes) == set(left) - unfit
    assert set(artifacts.reviews) <= set(artifacts.verdicts) <= set(left)


def test_what_is_no_regular_file_counts_as_missing(tmp_path: Path) -> None:
    folder = tmp_path / layout.REVIEW
    for name in ("review_logic.yaml", os.fsdecode(b"\xff\xfe.yaml")):
        leave(tmp_path, f"{layout.REVIEW}/{name}", PASS)
    os.mkfifo(folder / "review_quality.yaml")
    (folder / "review.yaml").symlink_to("review_logic.yaml")
    (folder / "review_expert.yaml").mkdir()
    (folder / "review.md").symlink_to("/dev/zero")
    assert said(tmp_path, reviewing(*REVIEWERS)) == {"reviewer_logic": Verdict.PASS}
    problems = read_artifacts(tmp_path, reviewing(*REVIEWERS)).problems
    for name in ("review_quality.yaml", "review.yaml", "review_expert.yaml", "review.md"):
        assert problems[f"{layout.REVIEW}/{name}"] == "not a regular file"


@pytest.fixture
def ordinary(short_dir: Path) -> Iterator[Path]:
    """A session directory that is read without root's permissions."""
    user = os.geteuid()
    short_dir.chmod(0o777)
    os.seteuid(user or 65534)
    yield short_dir
    os.seteuid(user)


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        (layout.REVIEW, 0),
        (layout.REVIEW, 0o444),
        (f"{layout.REVIEW}/review_logic.yaml", 0),
        (layout.HISTORY, 0),
    ],
)
def test_what_cannot_be_read_does_not_count_as_missing(
    ordinary: Path, path: str, mode: int
) -> None:
    session, state = ordinary / "session", reviewing("logic")
    leave(session, f"{layout.REVIEW}/review_logic.yaml", PASS)
    leave(session, kept_fix_request(state), b"mend it")
    (session / path).chmod(mode)
    with pytest.raises(DataError) as raised:
        read_artifacts(session, state)
    (session / path).chmod(0o700)
    assert str(session / path) in raised.value.message
