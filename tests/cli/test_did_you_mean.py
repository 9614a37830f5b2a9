"""A mistyped name is answered with the one that was probably meant, wherever it is looked up."""

import os
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.state import Seat
from agentmux.core.names.phase import Phase
from tests.app.on_disk import OnDisk
from tests.fakes.bench import Bench

NAME = "20260101-101500-add-login"
ARCHITECT = Seat(
    launch="0" * 12,
    role="architect",
    phase="architecting",
    mode="fresh",
    reason="",
    since="2026-01-01T10:15:00.000Z",
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("lst", "`list`"),
        ("help lst", "`list`"),
        ("agents shw", "`show`"),
        ("completion zhs", "`zsh`"),
        ("list --jsn", "`--json`"),
        ("status logn", "agentmux status add-login"),
        ("attach ad-login", "agentmux attach add-login"),
        ("resume add --fresh-role architct --dry-run", "`architect`"),
        ("resume add --phase plannin --dry-run", "`planning`"),
        ("wait add --for plannin", "`planning`"),
        ("wait add --for decison", "`decision`"),
        ("request-changes text -s add --from plannin", "`planning`"),
        ("start text --agent clude --yes --dry-run", "`claude`"),
        ("start text --agent demo --role coder=codx --yes --dry-run", "`codex`"),
        ("start text --role codr=codex --yes --dry-run", "`coder`"),
        (
            "start text --role reviewer=codex --yes --dry-run",
            "`reviewer_logic`, `reviewer_quality` or `reviewer_expert`",
        ),
        ("start text --pipeline quik --yes --dry-run", "`quick`"),
        ("pipelines show quik", "`quick`"),
        ("agents show clude", "`claude`"),
        ("agents probe clude", "`claude`"),
    ],
)
def test_what_was_probably_meant_is_said(
    tmp_path: Path,
    short_dir: Path,
    tmux: Bench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    meant: str,
) -> None:
    project = tmp_path / "project"
    (project / ".agentmux").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    OnDisk(
        sessions_dir(project) / NAME,
        Phase.COMPLETING,
        summary_submitted=True,
        tmux_socket=tmux.socket,
        seats={"architect": ARCHITECT},
    )
    main(line.split(), os.environ)
    assert f"did you mean{':' * meant.startswith('agentmux')} {meant}" in capsys.readouterr().err
