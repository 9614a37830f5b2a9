"""The summary of a session's result, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.pipeline.artifacts import TEXT_MAX, summary_path
from agentmux.core.terminal.text.markdown import render_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles


def summary_lines(files: SessionFiles, state: SessionState) -> Iterator[str]:
    """Yield the lines of the whole summary as plain text; nothing if there is no summary.

    The summary is the Markdown file in which the agents describe the session's result.
    """
    yield from _render_file(files, summary_path(state))


def asked_lines(files: SessionFiles, state: SessionState) -> Iterator[str]:
    """Yield the lines of the user's request for changes that began this cycle, as plain text.

    Nothing is yielded in a cycle that no such request began.
    """
    if state.change_request is not None:
        yield from _render_file(files, state.change_request)


def _render_file(files: SessionFiles, path: str) -> Iterator[str]:
    data, _ = files.read_artifact(path, TEXT_MAX)
    yield from render_markdown((data or b"").decode("utf-8", "replace"))
