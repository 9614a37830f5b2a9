"""Which program an agent's command runs, and whether it is still the same program.

Agents update themselves daily, so a program with a new version, path, size or modification time
counts as the same; a program with another base name does not.
"""

from __future__ import annotations

import functools
import re
from pathlib import PurePath
from typing import Final

from agentmux.core.codec.frozen import dataclass

_SUFFIX: Final = re.compile(r"\.(?:exe|cmd|[cm]?js|py|sh)$", re.IGNORECASE)
# File names that are too general to identify a program.
_NAMELESS: Final = frozenset({"", "cli", "index", "main"})
# `_VERSION` is a version; `_PART` is a part of a version or platform in a file name.
_VERSION: Final = r"v?\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.]+)?"
_PART: Final = re.compile(
    r"v?\d[\w.]*|x86|x64|amd64|arm64|aarch64|linux|darwin|macos|apple|unknown|gnu|musl|bin"
)
# The form of 0.1.0: real path, size and modification time.
_FILE: Final = re.compile(r"(?P<path>/.*):\d+:\d+", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The program behind a command.

    Attributes:
        name: The program's base name, without a version.
        version: The program's version; empty if it is not known.
        file: The program's real path, size in bytes and modification time in nanoseconds, as
            ``PATH:SIZE:TIME``; empty if they are not known. A new size or time means that the
            program was updated; it is still the same program.
    """

    name: str
    version: str = ""
    file: str = ""

    @property
    def path(self) -> str:
        """The real path of the program; empty if it is not known."""
        match = _FILE.fullmatch(self.file)
        return match["path"] if match is not None else ""

    def is_same_program(self, other: Runtime) -> bool:
        """Whether both have the same base name, or the same known path; versions do not matter."""
        return self.name == other.name or self.path == other.path != ""


@functools.lru_cache(maxsize=64)
def runtime_of(command: str, version: str, file: str) -> Runtime:
    """Return the `Runtime` of the program behind ``command``; runs and reads nothing.

    Args:
        command: The program's name or path, as in the agent's command.
        version: The version that the program reports; empty if it reports none. Then a version in
            the program's path counts, if there is one.
        file: The program's real path, size in bytes and modification time in nanoseconds, as
            ``PATH:SIZE:TIME``; empty if they are not known.
    """
    runtime = Runtime(name="", file=file)
    shown = version or _version_in(runtime.path)
    return Runtime(name=_behind(command, runtime.path), version=shown.replace(" ", "_"), file=file)


def encode_runtime(runtime: Runtime) -> str:
    """Return ``runtime`` as the text that a resume record stores; `decode_runtime` reads it.

    It is ``NAME VERSION FILE``, with ``-`` in place of an unknown version.
    """
    return f"{runtime.name} {runtime.version or '-'} {runtime.file}"


def decode_runtime(text: str, command: str) -> Runtime:
    """Return the `Runtime` that a resume record describes with ``text``.

    A record of version 0.1.0 has only the program's `Runtime.file`. The program's name is then
    derived from that file and from ``command``, the name or path with which the program was
    started. Any text is accepted; parts that are missing from it are empty in the result.
    """
    if _FILE.fullmatch(text):
        return runtime_of(command, "", text)
    name, _, rest = text.partition(" ")
    version, _, file = rest.partition(" ")
    return Runtime(name=name, version=version if version != "-" else "", file=file)


def update_of(then: Runtime, now: Runtime) -> str:
    """Return, for people, how a program was updated between ``then`` and ``now``; empty if not.

    For example ``claude 2.1 → 2.2``, or ``claude was updated`` if only its file has changed.
    """
    if then.version and now.version and then.version != now.version:
        return f"{now.name} {then.version} → {now.version}"
    return f"{now.name} was updated" if then.file != now.file else ""


def _behind(command: str, path: str) -> str:
    """Return the base name of the program at ``path``, without a suffix such as ``.js``.

    If that is a version, a platform or a general name such as ``cli``, return the base name of
    ``command`` instead.
    """
    called = _hyphenate(PurePath(command).name)
    stem = _SUFFIX.sub("", PurePath(path).name)
    if stem in _NAMELESS or _is_versioned(stem, called):
        return called
    return _hyphenate(stem)


def _is_versioned(stem: str, called: str) -> bool:
    """Whether the file name ``stem`` is a version or platform, or ``called`` followed by one."""
    parts = (each.strip(".") for each in re.split("[-_@+]", stem.removeprefix(called)))
    return all(_PART.fullmatch(each) for each in parts if each)


def _hyphenate(name: str) -> str:
    return "-".join(name.split())


def _version_in(path: str) -> str:
    versions = [each for each in PurePath(path).parts if re.fullmatch(_VERSION, each)]
    return versions[-1] if versions else ""
