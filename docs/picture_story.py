"""What the pictures tell: a small shop, and five features in different situations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from docs.picture_stage import Stage, wait_until

_CONFIG: Final = """\
version: 1
defaults: {agent: demo}
verify:
  - {name: tests, run: [python3, -m, unittest, -q], timeout: 5m}
snapshots: {interval: 0.3s}
"""
_QUICK: Final = "version: 1\ndefaults: {agent: demo}\n"
_CART: Final = '''\
"""The cart of one customer."""


def total(prices: list[int]) -> int:
    """Return the sum, in cents."""
    return sum(prices)
'''
_TEST: Final = """\
import unittest

from shop.cart import total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([250, 1000]), 1250)
"""
_SHOP: Final = {
    ".agentmux/config.yaml": _CONFIG,
    ".gitignore": "__pycache__/\n",
    "shop/__init__.py": "",
    "shop/cart.py": _CART,
    "tests/__init__.py": "",
    "tests/test_cart.py": _TEST,
}
_CSV: Final = '''\
"""Orders as CSV, for the bookkeeper's spreadsheet."""

import csv
import io


def as_csv(orders: list[dict[str, object]]) -> str:
    """Return one line for each order, below a line of names."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ["number", "customer", "total"], lineterminator="\\n")
    writer.writeheader()
    writer.writerows(orders)
    return out.getvalue()
'''
_TEST_CSV: Final = """\
import unittest

from shop.export import as_csv


class ExportTest(unittest.TestCase):
    def test_an_order_is_a_line(self):
        order = {"number": 7, "customer": "Ada", "total": 1250}
        self.assertEqual(as_csv([order]), "number,customer,total\\n7,Ada,1250\\n")
"""


def _plan(**parts: list[str]) -> dict[str, Any]:
    """Return a plan with a part for each name, side by side, that owns these files."""
    named = list(enumerate(parts.items(), start=1))
    return {
        "version": 2,
        "plan_overview": "Parts that know nothing of each other.",
        "needs_design": False,
        "needs_docs": False,
        "doc_files": [],
        "groups": [
            {
                "group_id": "parts",
                "mode": "parallel",
                "plans": [{"index": index, "name": name} for index, (name, _) in named],
            }
        ],
        "subplans": [
            {
                "index": index,
                "title": name.capitalize(),
                "scope": f"The module for {name}, and its tests.",
                "owned_files": files,
                "dependencies": "none",
                "implementation_approach": "Write the module, then its tests.",
                "acceptance_criteria": "The tests pass.",
                "tasks": [f"Write the module for {name}", "Test it"],
                "isolation_rationale": "The other parts touch other files.",
            }
            for index, (name, files) in named
        ],
    }


_AT_WORK: Final = {
    "roles": {
        "architect": {"reviewers": ["logic", "quality"]},
        "planner": {"plan": _plan(passwords=["shop/passwords.py"], login=["shop/login.py"])},
    },
    "seats": {"coder-1": {"think": 3600}, "coder-2": {"think": 3600}},
}
_FINISHED: Final = {
    "roles": {
        "architect": {"reviewers": ["logic", "quality"]},
        "planner": {"plan": _plan(export=["shop/export.py", "tests/test_export.py"])},
        "reviewer_logic": {
            "summary": "Every order is a line, and nothing else of the shop changes.",
            "commit_message": "Export orders as CSV",
        },
        "reviewer_quality": {"summary": "One small module, with a test that says what it does."},
    },
    "seats": {
        "coder-1": {"files": {"shop/export.py": _CSV, "tests/test_export.py": _TEST_CSV}},
    },
}
_ASKS: Final = {"roles": {"architect": {"dialog": "permission"}}}
_NAMES: Final = {
    "dark": "dark-theme",
    "minutes": "reading-time",
    "export": "export-orders",
    "login": "login",
    "mail": "mail-invoices",
}
_INTERRUPTED: Final = {
    "roles": {"planner": {"plan": _plan(colours=["shop/colours.py"], switch=["shop/switch.py"])}},
    "seats": {"coder-2": {"think": 3600}},
}


class Story:
    """The sessions, by short names: ``login``, ``export``, ``mail``, ``minutes`` and ``dark``."""

    def __init__(self, stage: Stage) -> None:
        """Start them all, and wait until each is where it shall be seen."""
        self.stage = stage
        self.shop = stage.project("shop", _SHOP)
        self.notes = stage.project("notes", {".agentmux/config.yaml": _QUICK})
        self.names: dict[str, str] = {}
        self._start("dark", "A dark theme", _INTERRUPTED)
        self._start("minutes", "Show how long a note takes to read", {}, "--quick")
        self._start("export", "Export orders as CSV, for the bookkeeper", _FINISHED)
        self._start("login", "Let people log in with a password", _AT_WORK)
        self._start("mail", "Send the invoice by mail", _ASKS)
        self._until("minutes", "decision")
        stage.run("agentmux", "approve", "--yes", self.names["minutes"], cwd=self.notes)
        self._until_seats("dark", "coder-2")
        stage.run("agentmux", "stop", self.names["dark"], cwd=self.shop)
        self._until("minutes", "done")
        self._until("export", "decision")
        self._until_seats("login", "coder-1", "coder-2")

    def _start(self, name: str, feature: str, script: Mapping[str, Any], *words: str) -> None:
        project = self._project(name)
        more = () if project == self.notes else ("--worktree",)
        self.names[name] = self.stage.start(
            project, feature, script, *words, *more, "--name", _NAMES[name]
        )

    def _until(self, name: str, goal: str) -> None:
        argv = ("agentmux", "wait", self.names[name], "--for", goal, "--timeout", "90")
        self.stage.run(*argv, cwd=self._project(name))

    def _project(self, name: str) -> Path:
        return self.notes if name == "minutes" else self.shop

    def _until_seats(self, name: str, *seats: str) -> None:
        """Wait until these seats have read their prompts."""
        folder = self._project(name) / ".agentmux/.sessions" / self.names[name]

        def held() -> bool:
            found = json.loads((folder / "state.json").read_text())["seats"]
            return all(found.get(seat, {}).get("reached") for seat in seats)

        wait_until(held, (folder / "state.json").read_text)
