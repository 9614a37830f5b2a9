"""Writes the project files of a coder. Writing them a second time changes nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from agentmux.demo_agent.work.drafts import subplans_of, whole_plan

_NAMED_FILE = re.compile(r"[\w./-]*\w\.\w+")
_COMMENT: Final = {
    ".md": ("<!-- ", " -->"), ".html": ("<!-- ", " -->"), ".js": ("// ", ""), ".ts": ("// ", ""),
    ".c": ("// ", ""), ".go": ("// ", ""), ".rs": ("// ", ""), ".css": ("/* ", " */"),
}  # fmt: skip

_TEST: Final = '''\
"""Test of sub-plan {index}."""

import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[{depth}]


class SubPlan{index}Test(unittest.TestCase):
    def test_the_files_are_there(self):
        for name in {names}:
            self.assertIn("sub-plan {index}", (ROOT / name).read_text(encoding="utf-8"))
'''


def build(root: Path, plan: dict[str, Any], index: int, files: dict[str, str]) -> list[str]:
    """Write the project files of one sub-plan, those that the plan says it owns.

    A code file gets a section for the sub-plan, which replaces an earlier one. A test file gets one
    test. Paths outside of the project are left out.

    Args:
        root: The project's directory.
        plan: The content of ``plan.yaml``; empty if there is no plan.
        index: The number of the sub-plan, from 1. If the plan lacks it, a made-up sub-plan takes
            its place.
        files: The full text of files, by path relative to ``root``. An owned file that is in it
            gets this text. A file that the sub-plan does not own is not written. Without a plan,
            the sub-plan owns these files; if there are none, it owns made-up ones.

    Returns:
        The paths of the written files, relative to ``root``.
    """
    part = subplans_of(plan).get(index) or subplans_of(whole_plan({"parts": index}))[index]
    names = files if files and not plan else part.get("owned_files") or ()
    owned = [name for name in names if _is_inside(name)]
    code = [name for name in owned if name not in files and not _is_test(name)]
    tests = [name for name in owned if name not in files and _is_test(name)]
    for name in owned:
        if name in files:
            write_whole(root / name, files[name])
    for name in code:
        _put_section(root / name, f"sub-plan {index}", str(part.get("title", "")), index)
    for name in tests:
        depth = len(Path(name).parts) - 1
        write_whole(root / name, _TEST.format(index=index, names=repr(code), depth=depth))
    return owned


def first_file(plan: dict[str, Any]) -> str:
    """Return the first path that the plan's first sub-plan owns; ``README.md`` if it owns none.

    ``plan`` is the content of ``plan.yaml``. If it is empty, a made-up plan takes its place.
    """
    parts = subplans_of(plan) or subplans_of(whole_plan({}))
    owned = parts[min(parts)].get("owned_files") or ["README.md"]
    return str(owned[0])


def fix(root: Path, request: str, attempt: str, files: dict[str, str]) -> list[str]:
    """Write a section for the fix into each file that a fix request names.

    Args:
        root: The project's directory.
        request: The text of the fix request.
        attempt: The name of the fix, such as ``1.2`` for cycle 1 and iteration 2; a fix with the
            same name again changes nothing.
        files: The full text of files, by path; if there are any, these are written instead, and
            ``request`` is not used.

    Returns:
        The paths of the changed files, relative to ``root``; all paths of ``files`` if there are
        any. Empty if the request names no file that exists.
    """
    if files:
        for name, text in files.items():
            if _is_inside(name):
                write_whole(root / name, text)
        return list(files)
    named = dict.fromkeys(match[0] for match in _NAMED_FILE.finditer(request))
    paths = [name for name in named if _is_inside(name) and (root / name).is_file()]
    for name in paths:
        _put_section(root / name, f"fix {attempt}", "Fixed as the review asked.", None)
    return paths


def write_whole(path: Path, text: str) -> None:
    """Replace a file's content with ``text``, atomically; create its folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temp_path = path.with_name(f".{path.name}.{os.getpid()}")
    temp_path.write_text(text, encoding="utf-8")
    temp_path.replace(path)


def _put_section(path: Path, name: str, title: str, index: int | None) -> None:
    """Write a section into a source file, between two comments.

    It replaces a section with the same name; otherwise it is appended.

    Args:
        path: The file; created if it is missing.
        name: The name of the section.
        title: The first line of the section.
        index: In a Python file, the section gets a function ``part_<index>``; None for no function.
    """
    start, end = _COMMENT.get(path.suffix, ("# ", ""))
    first, last = f"{start}--- {name} ---{end}", f"{start}--- end of {name} ---{end}"
    body = f"{start}{' '.join(title.split())}{end}"
    if path.suffix == ".py" and index is not None:
        body += f'\n\n\ndef part_{index}():\n    return "part {index}"\n\n'
    section = f"{first}\n{body}\n{last}\n"
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, separator, rest = old.partition(first + "\n")
    if separator:
        after = rest.partition(last + "\n")[2]
        write_whole(path, before + section + after)
    else:
        gap = "\n" if old and not old.endswith("\n") else ""
        write_whole(path, old + gap + section)


def _is_test(name: str) -> bool:
    return Path(name).name.startswith("test_") and name.endswith(".py")


def _is_inside(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and ".agentmux" not in path.parts
