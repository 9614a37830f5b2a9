"""The texts that describe a result: commit message, and title and body of a pull request. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from agentmux.core.codec.shape import is_control
from agentmux.core.documents.outside_text import strip_invisible, title_line
from agentmux.core.documents.review import check_review, commit_message, label
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.results import all_reviews, all_verdicts

BODY_MAX: Final = 60_000
"""The maximum length of a request's body, in characters; GitHub accepts 65,536."""
_BYTES_MAX: Final = 120_000
"""The maximum size of a request's body, in bytes.

Some programs take the body as one argument, which Linux limits to 131,072 bytes (execve(2)).
"""
_SUBJECT_MAX: Final = 72
_SUMMARY: Final = "summary"
_CUT: Final = "\n\n[The rest was cut off.]"


def message(state: SessionState, summary: Iterable[str] = ()) -> str:
    """Return the commit message: a reviewer's proposal, or else the first line of the request.

    The request is `SessionState.subject`. If its first line is too long for the subject of a
    commit, it is shortened, and the whole request follows it.

    Args:
        state: The session's state.
        summary: The lines of the summary, as plain text. They become the body of a message that
            has only one line; any other message leaves them out.
    """
    text = _headline(state)
    told = _strip_controls("\n".join(summary)).strip()
    heading, _, rest = told.partition("\n")
    told = rest if heading.strip(" :").casefold() == _SUMMARY else told
    body = _wrap_lines(told[:BODY_MAX])
    return f"{text}\n\n{body}" if body and "\n" not in text.strip() else text


def _headline(state: SessionState) -> str:
    reviews = (
        check_review(fields, role, strict=False)[0] for role, fields in all_reviews(state).items()
    )
    proposed = _strip_controls(
        commit_message([review for review in reviews if review is not None]) or ""
    )
    if proposed.strip():
        return proposed
    line = _strip_controls(" ".join(state.subject.split("\n", 1)[0].split())) or "Apply the feature"
    if len(line) <= _SUBJECT_MAX:
        return line
    return f"{_subject(line)}\n\n{_wrap_lines(_strip_controls(state.subject)[:BODY_MAX])}"


def _subject(line: str) -> str:
    """Return a line shortened to the length of a subject, between two words if possible."""
    room = line[: _SUBJECT_MAX - 1]
    words = room if line[len(room)] == " " else room.rpartition(" ")[0]
    return f"{(words or room).rstrip()}…"


def _wrap_lines(text: str) -> str:
    """Return a text with its long lines wrapped, as is usual in commit messages."""
    fill = textwrap.TextWrapper(_SUBJECT_MAX, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\n".join(fill.wrap(line)) for line in text.strip().splitlines())


def _strip_controls(text: str) -> str:
    """Return a text without control characters other than line ends and tabs."""
    return "".join(char for char in text if char in "\n\t" or not is_control(char))


def request_title(state: SessionState) -> str:
    """Return the title of a pull request: the first line of the commit message."""
    return title_line(message(state).strip().split("\n", 1)[0])


def request_body(state: SessionState, summary: str, *, closes: str) -> str:
    """Return the body of a pull request, in Markdown: summary, plan and verdicts.

    A body that is too long for a forge is cut, which its end says.

    Args:
        state: The session's state; the plan and the verdicts in it are listed.
        summary: The text of ``summary.md``; may be empty.
        closes: The issue that a merge closes, in the forge's notation, such as ``#42``; empty if
            it closes none.
    """
    parts = [
        strip_invisible(summary).strip(),
        _section("Plan", _plan(state)),
        _section("Review", _verdicts(state)),
    ]
    body = "\n\n".join(part for part in parts if part)
    short = body[:BODY_MAX].encode()[:_BYTES_MAX].decode(errors="ignore")
    body = body if short == body else short + _CUT
    end = f"Closes {closes}" if closes else ""
    return "\n\n".join(part for part in (body, end) if part) + "\n"


def _section(title: str, lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    return f"## {title}\n\n{text}" if text else ""


def _plan(state: SessionState) -> Iterator[str]:
    for group in state.implementation_groups:
        plans = group.get("plans")
        for plan in plans if isinstance(plans, list) else ():
            yield f"{plan.get('index', 0)}. {title_line(str(plan.get('name', '')))}"


def _verdicts(state: SessionState) -> Iterator[str]:
    reviews = all_reviews(state)
    for role, verdict in all_verdicts(state).items():
        summary = reviews.get(role, {}).get("summary")
        title = title_line(summary) if isinstance(summary, str) else ""
        yield f"- {label(role)}: {verdict}{f': {title}' if title else ''}"
