"""The body of a request: what it keeps of a long summary."""

import pytest

from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.result_text import BODY_MAX, request_body


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
