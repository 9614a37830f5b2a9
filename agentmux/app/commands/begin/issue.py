"""Reads the issue that a new session is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agentmux.app.session.configuration.forge_place import target
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.documents.outside_text import issue_text, title_line
from agentmux.core.forges.spec import RepoRef, read_url
from agentmux.core.journal.state import Issue
from agentmux.core.names.words.counts import format_count
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.ports.forge import IssueText

_NUMBER: Final = re.compile(r"#?([1-9]\d{0,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadIssue:
    """An issue that was read.

    Attributes:
        issue: What the session records about the issue.
        text: The text of the issue as the session's feature request: title, body and comments,
            without invisible characters; cut if it is very long.
        warnings: What was left out; one sentence each.
    """

    issue: Issue
    text: str
    warnings: tuple[str, ...] = ()


def read_issue(world: World, given: str, *, words: str, comments: bool) -> ReadIssue:
    """Read an issue on a forge, and return it; records nothing.

    Args:
        world: The project, with its remotes and the forges.
        given: The issue's number, or its URL.
        words: What the user wrote in addition to the issue; may be empty. It becomes
            ``issue.words`` of the result, and is not in its ``text``.
        comments: Whether to read the comments, too; only those of people who may write to the
            repository are used.

    Raises:
        UsageError: ``given`` is neither, or it is not clear which repository is meant.
        ForgeError: The forge's program fails.
        ConfigError: The user's file of forges is wrong.
    """
    place, number = _resolve_issue(world, given.strip())
    issue = world.forge(world.environment).issue(place, number, comments=comments)
    title = title_line(issue.title) or f"Issue {number}"
    remarks = ((each.author, each.text) for each in issue.comments)
    return ReadIssue(
        issue=Issue(
            url=issue.url, number=number, title=title, words=replace_unencodable(words.strip())
        ),
        text=issue_text(title, issue.body, remarks),
        warnings=tuple(_left_out(issue)),
    )


def _left_out(found: IssueText) -> tuple[str, ...]:
    if not found.left_out:
        return ()
    count = format_count(found.left_out, "comment was", "comments were")
    return (f"{count} left out: {found.place.host} does not say that the author may write there",)


def _resolve_issue(world: World, given: str) -> tuple[RepoRef, int]:
    """Return the repository and the number of the issue that the user named."""
    number = _NUMBER.fullmatch(given)
    if number is not None:
        return target(world, world.environment).repository, int(number[1])
    specs = world.forge(world.environment).specs
    for spec in specs.values():
        issue = read_url(spec, spec.issue_url, given)
        if issue is not None:
            return issue
    known = ", ".join(host for spec in specs.values() for host in spec.hosts)
    raise UsageError(
        f"`{given[:200]}` is neither the number nor the URL of an issue",
        hints=(
            f"hosts that are known: {known}",
            "add another one in ~/.config/agentmux/forges.yaml",
        ),
    )
