"""A session whose check fails once, killed before and after each durable operation of a check.

As in `tests.app.test_crash_sweep`, with real git and a short run. Swept are the run on the base,
and the check from its beginning to the end of the fix: a kill while a command runs, after its exit
record, and before its event.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentmux.core.config.commands import VerifyCommand
from agentmux.core.names import layout
from tests.app.driver import Studio
from tests.app.recording import Image, one_of_each
from tests.app.sweeping import begin, journal_of, outcome, recorded, since, sweep

pytestmark = pytest.mark.long

VERIFY = (
    VerifyCommand(name="tests", run=("sh", "-c", "test ! -e part_1.py || test -e fixed.py")),
    VerifyCommand(name="types", run=("false",), required=False),
)
_ENDS = {"check_done", "base_checked"}


def is_unrecorded(studio: Studio, image: Image) -> bool:
    """Return whether a command has left an exit record, and the journal does not have its end."""
    session = image.folder / studio.session.relative_to(studio.ground)
    lines = (session / layout.JOURNAL).read_bytes().splitlines(keepends=True)
    events = [json.loads(line) for line in lines if line.endswith(b"\n")]
    ended = {path.parent.name for path in session.glob(f"{layout.LAUNCHES}/*/exit.json")}
    commands = {e["launch"] for e in events if e["payload"].get("role") in {"check", "base"}}
    return bool(ended & commands - {e["launch"] for e in events if e["event"] in _ENDS})


@pytest.mark.rare("CI kills at every operation of a usual session")
def test_a_kill_in_a_check_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick, worktree=True, verify=VERIFY)
    images = recorded(studio, quick, monkeypatch, end="submit_review").images
    wanted = outcome(studio)
    assert wanted.phases.count((1, 0, "verifying")) == 1
    assert (1, 1, "fixing") in wanted.phases
    assert [studio.ran.count(f"{on} tests") for on in ("base", "check")] == [1, 2]
    ended = list({e.event: e for e in images if is_unrecorded(studio, e)}.values())
    assert {each.event.split()[1] for each in ended} >= {"base-tests", "check-tests", "check-types"}
    sweep(studio, wanted, ended, "resume")
    checks = one_of_each(since(studio, images, "checks_began"))
    base = one_of_each(each for each in images if "submit_plan" not in journal_of(studio, each))
    assert len(checks) > 30
    sweep(studio, wanted, [*checks[::6], *base[1::8]], "resume")
    alive = [each for each in (*ended, *checks) if each.session is not None]
    sweep(studio, wanted, alive[1::12], "reattach")
