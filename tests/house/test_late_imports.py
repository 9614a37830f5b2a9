"""An import inside a function makes a program start faster, and hides what a module depends on.

The modules in `FREE` choose among many others, most of which a command does not need: there it is
allowed. Elsewhere a function imports only what is slow to load: the modules in `SLOW`.
"""

import ast
import sys
from collections.abc import Iterator
from typing import Final

from agentmux.app.loop.late_modules import LATE, load_late_modules
from tests.house.sources import modules

FREE: Final = ("__main__.py", "cli/", "desk/", "wiring/")
"""The modules that may import anything when it is needed."""

SLOW: Final = {
    "agentmux.app.commands.resume.restart": "a monitor is shown before its keys are pressed",
    "agentmux.app.delivery": "agents start long before a result is delivered",
    "agentmux.app.loop.work.committer": "as the delivery",
    "agentmux.app.loop.work.deliverer": "as the delivery",
    "agentmux.core.agents.reset_times": "agents start before they reach a limit",
    "agentmux.adapters.config.agent_registry": "loads YAML; known agents need no probe",
    "agentmux.adapters.config.layers": "loads YAML",
    "agentmux.adapters.disk.removal": "loads shutil, and with it three compressors",
    "agentmux.adapters.disk.session.frozen_pipeline": "only older sessions are without one",
    "agentmux.adapters.pane.gate": "only a stopped pane has one",
    "agentmux.adapters.yaml": "loads YAML: 20 ms",
    "agentmux.core.agents.spec": "5 ms, and few signals name a conversation",
    "agentmux.core.decisions.session_trace": "5 ms, and few projects have a lost session",
    "agentmux.core.decisions.workplace": "loads the settings; a list names no branch",
    "agentmux.core.fold.apply": "a signal may do without the fold",
    "agentmux.core.fold.lost_state": "a signal rebuilds no state",
    "agentmux.core.pipeline.verified": "loads the phases; a list shows no check",
    "apprise": "it is missing in many installations",
    "asyncio": "threads also run programs without a loop",
    "ctypes": "the wrapper needs it on Linux alone",
    "dataclasses": "10 ms, and a signal needs none",
    "datetime": "a signal reads no clock",
    "difflib": "it is needed after a mistake alone",
    "filelock": "loads asyncio; looking at a lock needs none",
    "jsonschema": "80 ms, and few checks have a schema",
    "libtmux": "150 ms, and only the look at a server's health needs it",
    "psutil": "it is needed where there is no /proc",
    "referencing": "as slow as jsonschema, and needed with it",
    "select": "the wrapper starts agents without it",
    "subprocess": "8 ms, and the demo agent has its prompt before its first command",
    "tempfile": "loads random, and few commands need it",
    "termios": "the wrapper starts agents without it",
    "threading": "the wrapper starts agents without it",
    "tomllib": "the hooks of other agents do without it",
    "watchfiles": "only waiting needs it",
    "wcwidth": "30 ms, and agents start before the first picture",
    "yaml": "more than the rest of the demo agent's start",
}
"""What a function may import elsewhere, and why it is not loaded with its module."""


def _late_imports(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each import inside a function."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    yield from ((node.lineno, f"{node.module}.{each.name}") for each in node.names)
                elif isinstance(node, ast.Import):
                    yield from ((node.lineno, each.name) for each in node.names)


def _is_slow(module: str) -> str | None:
    return next((each for each in SLOW if f"{module}.".startswith(f"{each}.")), None)


def _elsewhere() -> Iterator[tuple[str, str]]:
    for path, module in modules():
        place = path.removeprefix("agentmux/")
        if not place.startswith(FREE):
            yield from ((f"{place}:{line}", name) for line, name in _late_imports(module))


def test_a_function_imports_only_what_is_slow_to_load() -> None:
    late = list(_elsewhere())
    assert [(place, module) for place, module in late if _is_slow(module) is None] == []
    assert {_is_slow(module) for _, module in late} == set(SLOW), "no longer imported late"


def test_an_orchestrator_loads_what_it_imports_late_soon_after_its_start() -> None:
    """After an upgrade, a module of the newer release must not join those of the older one."""
    late = {
        name.rpartition(".")[0]
        for place, name in _elsewhere()
        if place.startswith("app/loop/") and name.startswith("agentmux.")
    }
    assert late
    assert sorted(late - set(LATE)) == []
    load_late_modules()  # which says nothing of a module that does not exist
    assert sorted(set(LATE) - set(sys.modules)) == []
