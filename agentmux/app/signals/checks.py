"""Reads what an agent hands in, and checks it; all problems are reported at once.

The description of each signal (`core.fold.signals`) says what is read and what it must contain.
Whether a *phase* is complete is decided in `core.pipeline.checks.phase_completion`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fold.signals.description import (
    Contents,
    HandedFile,
    Identity,
    Judged,
    Submission,
    SubmissionContext,
)
from agentmux.core.fold.signals.table import DESCRIPTIONS
from agentmux.core.pipeline.artifacts import TEXT_MAX

if TYPE_CHECKING:  # importing `ports` costs time, and a signal needs little of it
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SignalFiles

YAML_MAX: Final = 1 << 18
"""Maximum size of a YAML artifact in bytes.

A journal line can hold it as JSON, even if each byte of the YAML takes three bytes there.
"""

CHANGES_MAX: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSubmission:
    """A submission after its check.

    Attributes:
        fact: The fact that the submission would record.
        about: The sub-plan, topic or role that distinguishes two signals of one launch; empty if
            such a signal has none.
        sha256: The SHA-256 of the artifact; empty if there is none.
        place: The path of the artifact relative to the session's directory; of several artifacts,
            the path of their folder.
        problems: Every broken rule. If there is any, the fact is incomplete and must not be
            accepted.
    """

    fact: Judged
    about: str = ""
    sha256: str = ""
    place: str = ""
    problems: tuple[str, ...] = ()


class _Reader:
    """Reads the files that are handed in, and collects their digests and problems."""

    def __init__(self, files: SignalFiles) -> None:
        self._files = files
        self._digests: list[str] = []
        self._problems: list[str] = []

    def contents(self, files: tuple[HandedFile, ...], places: tuple[str, ...]) -> Contents:
        """Read the handed-in ``files``, each at its path in ``places``; return what they contain.

        What is wrong with a file becomes a problem in the result.

        Args:
            files: What is expected of each file.
            places: The paths of the files, in the same order, relative to the session's directory.

        Raises:
            DataError: A schema of the session is damaged.
        """
        values = tuple(self._value(*each) for each in zip(files, places, strict=True))
        digest = "".join(self._digests)
        if len(self._digests) > 1:
            digest = sha256(digest.encode()).hexdigest()
        return Contents(values, digest, tuple(self._problems))

    def _value(self, file: HandedFile, path: str) -> object:
        data = self._data(path, YAML_MAX if file.is_yaml else TEXT_MAX)
        if data is None:
            return None
        value, problems = self._yaml(file, data) if file.is_yaml else self._text(file, path, data)
        self._problems += (f"{path}: {each}" if file.named else each for each in problems)
        return None if problems else value

    def _data(self, path: str, limit: int) -> bytes | None:
        data, why = self._files.read_artifact(path, limit)
        if data is not None and not data.strip():
            data, why = None, "empty"
        if data is None:
            self._problems.append(f"{path}: {why}")
            return None
        self._digests.append(sha256(data).hexdigest())
        return data

    def _text(self, file: HandedFile, path: str, data: bytes) -> tuple[object, tuple[str, ...]]:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return None, (f"{'' if file.named else f'{path}: '}byte {error.start} is not UTF-8",)
        return self._files.read_front_matter(text) if file.has_front_matter else (text, ())

    def _yaml(self, file: HandedFile, data: bytes) -> tuple[object, tuple[str, ...]]:
        value, problems = self._files.read_yaml(data)
        if problems or file.schema is None:
            return value, problems
        schema = self._files.frozen_text(*file.schema)
        return value, self._files.schema_problems(schema, value)


def check(files: SignalFiles, identity: Identity, submission: Submission) -> CheckedSubmission:
    """Read the artifact of ``submission``, check every rule, and return the fact and all problems.

    Writes nothing. Whether the signal counts is not judged here, but in `submit`.

    Args:
        files: The session's directory.
        identity: The calling agent.
        submission: What is handed in, or asked for.

    Raises:
        UsageError: ``submission.role`` is not a reviewer.
    """
    signal = DESCRIPTIONS[submission.signal]

    @functools.cache
    def state() -> SessionState:
        return files.load().current

    handed = SubmissionContext(identity, submission, state)
    read = signal.reads(handed)
    places = tuple(_first_of(files, each.paths) for each in read)
    contents = _Reader(files).contents(read, places)
    fact, problems = signal.made(handed, contents)
    return CheckedSubmission(
        fact=fact,
        about=str((getattr(fact, signal.about) if signal.about else "") or ""),
        sha256=contents.sha256,
        place=places[0] if len(places) == 1 else "".join(places[:1]).rpartition("/")[0],
        problems=(*contents.problems, *problems),
    )


def check_changes(text: str) -> tuple[str, ...]:
    """Return a phrase for each problem of a user's request for changes; empty if it is valid.

    It is valid if ``text`` is neither blank nor too long.
    """
    if not text.strip():
        return ("text: empty",)
    return (f"text: longer than {CHANGES_MAX} characters",) if len(text) > CHANGES_MAX else ()


def _first_of(files: SignalFiles, paths: tuple[str, ...]) -> str:
    """Return the first of ``paths`` that exists; ``paths[0]`` if none does."""
    if len(paths) == 1:
        return paths[0]
    there = (path for path in paths if files.read_artifact(path, 0)[1] != "missing")
    return next(there, paths[0])
