"""Propose commands that check a project, from the files that the project has; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from agentmux.core.config.commands import VerifyCommand

READ: Final = (
    *("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "conftest.py", "tests/conftest.py"),
    "tests/__init__.py",
    *("package.json", "Cargo.toml", "go.mod", "GNUmakefile", "makefile", "Makefile"),
)
"""The paths of the files that `proposals` looks at, relative to the project."""

TEST_FILES: Final = ("test_*.py", "tests/test_*.py")
"""Patterns of further files that `proposals` looks at."""

LOOKED_FOR: Final = f"pytest, {', '.join(TEST_FILES)}, npm test, cargo test, go test, make test"
"""What `proposals` looks for, for people."""

_PYTEST: Final[Mapping[str, str]] = {
    "pytest.ini": "",
    "conftest.py": "",
    "tests/conftest.py": "",
    "pyproject.toml": r"\bpytest\b",
    "setup.cfg": r"\bpytest\b",
    "tox.ini": r"\bpytest\b",
}
_NO_TEST: Final = "no test specified"
"""Part of the ``test`` script that npm writes into a new ``package.json``."""


def proposals(texts: Mapping[str, str]) -> tuple[VerifyCommand, ...]:
    """Return commands that seem to run the project's tests; empty if no file suggests any.

    Args:
        texts: Maps the paths in `READ`, and those of `TEST_FILES`, to the contents of the files
            that exist.
    """
    return tuple(VerifyCommand(name=name, run=run) for name, run in _find_commands(texts))


def _find_commands(texts: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from _find_python_tests(texts)
    if _has_npm_test(texts.get("package.json", "")):
        yield "npm-test", ("npm", "test")
    if "Cargo.toml" in texts:
        yield "cargo-test", ("cargo", "test")
    if "go.mod" in texts:
        yield "go-test", ("go", "test", "./...")
    if _has_target(_first(texts, ("GNUmakefile", "makefile", "Makefile")), "test"):
        yield "make-test", ("make", "test")


def _find_python_tests(texts: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    tests = [name for name in texts if any(fnmatchcase(name, pattern) for pattern in TEST_FILES)]
    is_plain = [name for name in tests if re.search(r"\bunittest\b", texts[name])]
    settings = (name for name in _PYTEST if name in texts)
    if any(re.search(_PYTEST[name], texts[name]) for name in settings) or (tests and not is_plain):
        yield "pytest", ("pytest", "-q")
    elif is_plain:
        # From the project, unittest finds the tests of a folder only if it is a package.
        is_inside = "tests/__init__.py" not in texts and all("/" in name for name in is_plain)
        yield "unittest", ("python3", "-m", "unittest", *(["discover", "-s", "tests"] * is_inside))


def _has_npm_test(text: str) -> bool:
    try:
        fields = json.loads(text or "null")
    except (ValueError, RecursionError):
        return False
    scripts = fields.get("scripts") if isinstance(fields, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    return isinstance(script, str) and bool(script.strip()) and _NO_TEST not in script


def _has_target(makefile: str, name: str) -> bool:
    return re.search(rf"^{name}[ \t]*:(?![:=])", makefile, re.MULTILINE) is not None


def _first(texts: Mapping[str, str], names: Collection[str]) -> str:
    return next((texts[name] for name in names if name in texts), "")
