"""Each signal that is described is in every face: the command and its help, MCP, and the docs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentmux.cli.fast import submit
from agentmux.core.fold.signals.description import Identity, SignalDescription
from agentmux.core.fold.signals.table import DESCRIPTIONS, JUDGED
from agentmux.core.journal.events import SIGNALS, USER_DECISIONS
from agentmux.mcp.server import build

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"

every_signal = pytest.mark.parametrize("signal", DESCRIPTIONS.values(), ids=DESCRIPTIONS)


def test_every_fact_that_is_judged_is_described() -> None:
    assert set(DESCRIPTIONS) == SIGNALS
    assert set(JUDGED) == SIGNALS | USER_DECISIONS


@every_signal
def test_its_command_is_taken(
    signal: SignalDescription, capsys: pytest.CaptureFixture[str]
) -> None:
    values = ((each.option, "1" if each.is_number else "x") for each in signal.arguments)
    words = [word for pair in values for word in pair if word]
    submit.main([*signal.command.split(), *words], {})
    assert "must be run by an agent inside its pane" in capsys.readouterr().err


@every_signal
def test_the_help_of_its_command_names_it(signal: SignalDescription) -> None:
    shown = submit.submit_help() + submit.research_help()
    assert signal.name in shown
    assert [each.shown for each in signal.arguments if each.shown not in shown] == []


@every_signal
def test_its_tool_is_offered(signal: SignalDescription) -> None:
    server = build(Identity(session_dir="/s", session_id="", launch="l", role="r", seat="s"))
    tools = {each.name: each for each in asyncio.run(server.list_tools())}
    tool = tools[signal.fact.kind]
    assert (tool.description or "").lower() == f"{signal.says}.".lower()
    fields = {each.field for each in signal.arguments}
    required = {each.field for each in signal.arguments if each.is_required}
    assert set(tool.input_schema["properties"]) == fields
    assert set(tool.input_schema.get("required", ())) == required


@every_signal
def test_the_reference_has_it(signal: SignalDescription) -> None:
    text = (REFERENCE / "signals.md").read_text(encoding="utf-8")
    assert f"| `agentmux {signal.command}" in text
    assert f"| `{signal.fact.kind}`" in text
    if signal.hands_in:
        artifacts = (REFERENCE / "artifacts.md").read_text(encoding="utf-8")
        assert f"| `agentmux {signal.command}" in artifacts
