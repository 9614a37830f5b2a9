"""Without what the fleet needs, its commands say what to install, and nothing else changes."""

import os
import sys

import pytest

from agentmux.cli.main import main

COMMANDS = (
    ("list",), ("init",), ("worker",), ("worker", "--systemd"), ("submit", "x"), ("show", "x"),
    ("approve", "x"), ("attach", "x"), ("drain", "x"), ("retry", "x"), ("cancel", "x"),
)  # fmt: skip


@pytest.mark.parametrize("missing", ["dbos", "sqlalchemy", "psycopg"])
def test_without_the_extra_every_command_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, missing, None)  # as Python sees what is not installed
    for words in COMMANDS:
        assert main(["fleet", *words], os.environ) == 6, words
        said = capsys.readouterr().err
        assert "error: the fleet needs DBOS, which is not installed" in said
        assert "pip install 'dbos>=3.4,<4'" in said
