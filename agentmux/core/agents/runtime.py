"""Which program answers under an agent's command, and whether it is still the same one.

Agents update themselves daily: version, path, size and time of change are noted, and never make
another program of it. Its base name does.
"""

from __future__ import annotations

import functools
import re
from pathlib import PurePath
from typing import Final

from agentmux.core.codec.frozen import dataclass

_SUFFIX: Final = re.compile(r"\.(?:exe|cmd|[cm]?js|py|sh)$", re.IGNORECASE)
# What programs are installed under that have no name of their own.
_NAMELESS: Final = frozenset({"", "cli", "index", "main"})
# A version, a platform, or what a version manager adds.
_VERSION: Final = r"v?\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.]+)?"
_PART: Final = re.compile(
    r"v?\d[\w.]*|x86|x64|amd64|arm64|aarch64|linux|darwin|macos|apple|unknown|gnu|musl|bin"
)
# The form of 0.1.0: real path, size and time of change.
_FILE: Final = re.compile(r"(?P<path>/.*):\d+:\d+", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The program behind a command.

    Attributes:
        name: Its base name, without a version.
        version: Empty where nothing shows it.
        file: Real path, size and time of change; tells that it was updated, and decides nothing.
    """

    name: str
    version: str = ""
    file: str = ""

    @property
    def path(self) -> str:
        """The real path of the program."""
        found = _FILE.fullmatch(self.file)
        return found["path"] if found is not None else ""

    def is_same_program(self, other: Runtime) -> bool:
        """Whether both are one program, in whatever version and wherever it lies."""
        return self.name == other.name or self.path == other.path != ""


@functools.lru_cache(maxsize=64)
def runtime_of(command: str, version: str, file: str) -> Runtime:
    """Return what answers under ``command``.

    Args:
        command: The program as it is called, with or without a path.
        version: As it says itself; empty where it does not.
        file: As in `Runtime`.
    """
    made = Runtime(name="", file=file)
    shown = version or _version_in(made.path)
    return Runtime(name=_behind(command, made.path), version=shown.replace(" ", "_"), file=file)


def encode_runtime(runtime: Runtime) -> str:
    """Return the text that a resume record keeps; `decode_runtime` is the inverse."""
    return f"{runtime.name} {runtime.version or '-'} {runtime.file}"


def decode_runtime(text: str, command: str) -> Runtime:
    """Return what a record says; ``command`` is for one of 0.1.0, which only has the file."""
    if _FILE.fullmatch(text):
        return runtime_of(command, "", text)
    name, _, rest = text.partition(" ")
    version, _, file = rest.partition(" ")
    return Runtime(name=name, version=version if version != "-" else "", file=file)


def update_of(then: Runtime, now: Runtime) -> str:
    """Say how the same program has changed; empty where it has not."""
    if then.version and now.version and then.version != now.version:
        return f"{now.name} {then.version} → {now.version}"
    return f"{now.name} was updated" if then.file != now.file else ""


def _behind(command: str, path: str) -> str:
    """Return the base name of the program at ``path``; ``command``'s where it has none."""
    called = _spelled(PurePath(command).name)
    stem = _SUFFIX.sub("", PurePath(path).name)
    if stem in _NAMELESS or _is_versioned(stem, called):
        return called
    return _spelled(stem)


def _is_versioned(stem: str, called: str) -> bool:
    """Whether ``stem`` is but a version, or ``called`` with one (or with a platform) behind it."""
    parts = (each.strip(".") for each in re.split("[-_@+]", stem.removeprefix(called)))
    return all(_PART.fullmatch(each) for each in parts if each)


def _spelled(name: str) -> str:
    return "-".join(name.split())


def _version_in(path: str) -> str:
    found = [each for each in PurePath(path).parts if re.fullmatch(_VERSION, each)]
    return found[-1] if found else ""
