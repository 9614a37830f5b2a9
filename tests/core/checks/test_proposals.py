"""The commands with which a project checks itself."""

import pytest

from agentmux.core.checks.proposals import proposals

NPM = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({}, []),
        ({"pytest.ini": ""}, ["pytest -q"]),
        ({"tests/conftest.py": "import os"}, ["pytest -q"]),
        ({"pyproject.toml": '[project]\ndependencies = ["pytest>=8"]'}, ["pytest -q"]),
        ({"pyproject.toml": "[tool.mypy]", "setup.cfg": "[flake8]"}, []),
        ({"package.json": '{"scripts": {"test": "vitest run"}}'}, ["npm test"]),
        ({"package.json": NPM}, []),
        ({"package.json": '{"scripts": {"test": " "}}'}, []),
        ({"package.json": '{"scripts": []}'}, []),
        ({"package.json": "[" * 100_000}, []),
        ({"package.json": "{"}, []),
        ({"Cargo.toml": ""}, ["cargo test"]),
        ({"go.mod": "module x"}, ["go test ./..."]),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, ["make test"]),
        ({"Makefile": "test := 1\ntested:\n\ttrue\n.PHONY: test\n"}, []),
        ({"GNUmakefile": "all:", "Makefile": "test:"}, []),
        ({"tests/test_price.py": "import unittest"}, ["python3 -m unittest discover -s tests"]),
        (
            {"tests/test_price.py": "import unittest", "tests/__init__.py": ""},
            ["python3 -m unittest"],
        ),
        ({"test_price.py": "from unittest import TestCase"}, ["python3 -m unittest"]),
        ({"test_price.py": "def test_it(): pass"}, ["pytest -q"]),
        ({"pytest.ini": "", "test_price.py": "import unittest"}, ["pytest -q"]),
        ({"pytest.ini": "", "makefile": "test:"}, ["pytest -q", "make test"]),
    ],
)
def test_the_files_show_the_commands(texts: dict[str, str], found: list[str]) -> None:
    assert [" ".join(each.run) for each in proposals(texts)] == found
