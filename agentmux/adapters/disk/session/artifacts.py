"""Reads all artifacts in a session's phase folders, as `Artifacts`.

No link is followed, no pipe blocks, and no file is read beyond its size limit. A file that is not
regular, is too large or does not parse counts as missing, and `Artifacts.problems` says why. A file
that the system does not let us read is a `DataError`: if it counted as missing, the agent's work
would be done again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.front_matter import read_front_matter
from agentmux.core.definitions.definition import LOOKING, Kind
from agentmux.core.documents.plan import ExecutionPlan, check_execution_plan
from agentmux.core.documents.review import (
    Verdict,
    check_review,
    review_files,
    verdict_in,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.architecture import check_architecture
from agentmux.core.pipeline.artifacts import (
    ARCHITECTURE,
    PLAN_FILE,
    RESULTS,
    REVIEW_FILE,
    TEXT_MAX,
    Artifacts,
    kept_fix_request,
    kept_review,
    nominations,
    reviewing,
)
from agentmux.core.pipeline.registry import pipeline_of

YAML_MAX: Final = 1 << 20


def read_artifacts(session: Path, state: SessionState) -> Artifacts:
    """Return the artifacts of the session in the directory ``session``.

    ``state`` is the session's present state, which says which phases its pipeline has. Left out are
    files that no longer count, but have not been moved to the folder ``history`` yet: those in
    ``state.pending_archive``.

    Raises:
        DataError: The system does not let us read one of the files.
    """
    return _ArtifactReader(session, state).read()


class _ArtifactReader:
    """Reads a session's phase folders once, and collects sizes and problems of the files."""

    def __init__(self, session: Path, state: SessionState) -> None:
        self._session = session
        self._state = state
        self._pipeline = pipeline_of(state)
        self._sizes: dict[str, int] = {}
        self._problems: dict[str, str] = {}

    def read(self) -> Artifacts:
        for folder in self._pipeline.folders:
            self._list(folder)
        for path in (kept_fix_request(self._state), kept_review(self._state)):
            self._note(path)
        plan = self._execution_plan()
        named = self._nominations()
        verdicts, reviews = self._reviews(nominations(self._state, Artifacts(nominations=named)))
        return Artifacts(
            sizes=self._sizes,
            execution_plan=plan,
            nominations=named,
            verdicts=verdicts,
            reviews=reviews,
            results=self._results(),
            problems=self._problems,
        )

    def _counts(self, path: str) -> bool:
        return not any(each.takes(path) for each in self._state.pending_archive)

    def _list(self, folder: str) -> None:
        try:
            with os.scandir(f"{self._session}/{folder}") as entries:
                names = sorted(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise files.unreadable(self._session / folder, error) from error
        for name in names:
            if self._counts(f"{folder}/{name}"):
                self._note(f"{folder}/{name}")

    def _note(self, path: str) -> None:
        try:
            facts = os.lstat(f"{self._session}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise files.unreadable(self._session / path, error) from error
        limit = YAML_MAX if path.endswith(".yaml") else TEXT_MAX
        if not stat.S_ISREG(facts.st_mode):
            self._problems[path] = "not a regular file"
        elif facts.st_size > limit:
            self._problems[path] = f"larger than {limit} bytes"
        else:
            self._sizes[path] = facts.st_size

    def _bytes(self, path: str) -> bytes | None:
        if path not in self._sizes:
            return None
        limit = YAML_MAX if path.endswith(".yaml") else TEXT_MAX
        try:
            return files.read_strict(f"{self._session}/{path}", limit)
        except ValueError:  # it has changed since it was listed
            return None

    def _results(self) -> dict[str, str]:
        """Return the outcome in each valid ``results.yaml``, by its path."""
        outcomes: dict[str, str] = {}
        phases = self._pipeline.of_kind(*LOOKING)
        for path in (f"{each.folder}/{RESULTS}" for each in phases):
            data = self._bytes(path)
            fields = self._parse_yaml(path, data) if data is not None else None
            outcome = fields.get("outcome") if isinstance(fields, dict) else None
            if isinstance(outcome, str):
                outcomes[path] = outcome
            elif data is not None:
                self._problems.setdefault(path, "not valid: no outcome")
        return outcomes

    def _execution_plan(self) -> ExecutionPlan | None:
        for path in (f"{e.folder}/{PLAN_FILE}" for e in self._pipeline.of_kind(Kind.PLAN)):
            data = self._bytes(path)
            if data is None:
                return None
            plan, problems = check_execution_plan(self._parse_yaml(path, data))
            if plan is None:
                self._problems.setdefault(path, f"not valid: {'; '.join(problems[:3])}")
            return plan
        return None

    def _parse_yaml(self, path: str, data: bytes) -> object:
        """Return the value of a YAML document; on a mistake, note the problem and return None.

        Files that AgentMux writes itself are JSON, which is valid YAML and faster to parse.
        """
        if data.startswith(b"{"):
            with suppress(ValueError):
                return files.json_fields(data)
        from agentmux.adapters.yaml.documents import load_yaml

        loaded = load_yaml(data)
        if loaded.problems:
            self._problems[path] = f"not readable: {'; '.join(loaded.problems[:3])}"
        return loaded.value

    def _nominations(self) -> tuple[str, ...] | None:
        if self._state.reviewer_nominations:
            return None
        data = self._bytes(ARCHITECTURE)
        if not data:
            return None
        nominated, problems = check_architecture(data, read_front_matter)
        if problems:
            self._problems[ARCHITECTURE] = f"not valid: {'; '.join(problems[:3])}"
            del self._sizes[ARCHITECTURE]
            return None
        return nominated

    def _reviews(self, nominated: tuple[str, ...]) -> tuple[dict[str, Verdict], dict[str, Any]]:
        verdicts: dict[str, Verdict] = {}
        reviews: dict[str, Any] = {}
        for path, role in self._review_files(nominated):
            data = self._bytes(path) or b""
            review, problems = check_review(self._parse_yaml(path, data), role, strict=False)
            if review is None:
                self._problems.setdefault(path, f"not valid: {'; '.join(problems[:3])}")
            else:
                verdicts[path], reviews[path] = review.verdict, review.to_fields()
        for path in (f"{e.folder}/{REVIEW_FILE}" for e in self._pipeline.of_kind(Kind.REVIEW)):
            lone = verdict_in((self._bytes(path) or b"").decode("utf-8", "replace"))
            if lone is not None:
                verdicts[path] = lone
        return verdicts, reviews

    def _review_files(self, nominated: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Yield path and reviewer's role of each existing file that is named like a review.

        ``nominated`` are the nominated roles. If only one role reviews in a phase, its review may
        also have the name ``review.yaml``.
        """
        roles = {
            f"{each.folder}/{name}": role
            for each in self._pipeline.of_kind(Kind.REVIEW)
            for role in each.roles
            for name in review_files(role, alone=reviewing(nominated, each.roles) == (role,))
        }
        for path in self._sizes:
            if path in roles:
                yield path, roles[path]
