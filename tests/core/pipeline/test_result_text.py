"""The body of a request: what it keeps of a long summary."""

import pytest

from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.result_text import BODY_MAX, message, request_body


@pytest.mark.parametrize("letter", ["x", "é", "日", "🙂"])
def test_a_long_summary_fits_a_forge_and_a_command_line(letter: str) -> None:
    state = SessionState(phase=Phase.COMPLETING)
    body = request_body(state, letter * BODY_MAX * 2, closes="#7")
    assert len(body) < 65_536
    assert len(f"--description={body}".encode()) < 131_072
    kept, _, end = body.partition("\n\n")
    assert set(kept) == {letter}
    assert len(kept) >= 30_000
    assert end == "[The rest was cut off.]\n\nCloses #7\n"
    assert request_body(state, letter, closes="") == f"{letter}\n"


LONG = (
    "Add a JSON flag to the calculator's command line, which prints the result as an object, and"
    " show it in the help"
)


def test_a_feature_that_is_longer_than_a_subject_is_whole_in_the_body() -> None:
    subject, _, body = message(SessionState(phase=Phase.COMPLETING, feature=LONG)).partition("\n\n")
    assert subject == "Add a JSON flag to the calculator's command line, which prints the…"
    assert " ".join(body.split()) == LONG
    assert max(map(len, body.splitlines())) <= 72


@pytest.mark.parametrize(
    ("feature", "said"),
    [
        ("Add it", "Add it"),
        ("x" * 72, "x" * 72),
        ("x" * 80, f"{'x' * 71}…\n\n{'x' * 80}"),
        ("Add it\n\nmore of it", "Add it"),
        ("", "Apply the feature"),
    ],
)
def test_a_subject_is_cut_where_it_has_to_be(feature: str, said: str) -> None:
    assert message(SessionState(phase=Phase.COMPLETING, feature=feature)) == said


def test_the_summary_is_the_body_of_a_message_of_one_line() -> None:
    state = SessionState(phase=Phase.COMPLETING, feature="Add auth")
    summary = ["What changed", "", "- " + "words " * 20, "\x1b[2Jend"]
    subject, blank, *body = message(state, summary).splitlines()
    assert (subject, blank) == ("Add auth", "")
    assert body[:2] == ["What changed", ""]
    assert body[-1] == "[2Jend"
    assert max(map(len, body)) <= 72
    assert message(state) == "Add auth"
    assert message(state, ["Summary:", "", "It works."]) == "Add auth\n\nIt works."
    long = SessionState(phase=Phase.COMPLETING, feature=LONG)
    assert message(long, summary) == message(long)
