"""The middle way of each agent is what the suite with the real agents tries."""

from __future__ import annotations

import pytest

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.core.config.settings import Settings
from tests.real.clis import CLIS

REGISTRY = load_registry(Settings())


@pytest.mark.parametrize("name", [name for name, spec in REGISTRY.items() if spec.edit_args])
def test_the_words_are_those_that_are_tried(name: str) -> None:
    assert REGISTRY[name].edit_args == CLIS[name].edits
