"""What AgentMux knows about a forge: how to recognise it, and which commands to run.

``agentmux/forges.yaml`` has the built-in forges; docs/reference/forges.md explains the keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from agentmux.core.codec.frozen import dataclass, field

PLACES: Final = (
    "host", "repo", "repo_quoted", "number", "author", "author_id", "branch", "branch_quoted",
    "base", "head", "source", "title", "body",
)  # fmt: skip
"""The names that may stand in braces in the words of a command."""

_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_NO_TAIL: Final = r"(?:[/?#].*)?"
_IN_URL: Final[Mapping[str, str]] = {
    "host": r"(?P<host>[A-Za-z0-9.-]+(?::\d+)?)",
    "repo": r"(?P<repo>{repository})",
    "number": r"(?P<number>[1-9]\d{0,9})",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeCommand:
    """A command of a forge's program, and where its answer has what.

    Attributes:
        argv: The words of the command line, with names in braces.
        stdin: Its input, with names in braces.
        draft: Words to add for a draft.
        fork: Words to add where the commits are in another repository.
        entries: Where the list of the answer is: keys joined by dots; empty for the whole answer.
        fields: Maps each of our names to where it is in the answer, or in an entry of the list.
            Several places are joined with ``/``.
        skip: Where an entry says that it does not count; empty for nowhere.
        accept: The answers that mean yes: may write, or is open.
        missing: A regular expression for what the program says if there is no such number in a
            repository that it may read; empty where it does not tell that from another failure.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    draft: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
    entries: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skip: str = ""
    accept: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSpec:
    """One forge.

    Attributes:
        program: The name of its command-line program.
        install: Where people get that program.
        login: The command by which a user logs in, with ``{host}``.
        hosts: The hosts in the URLs of its repositories.
        aliases: Other names of hosts in URLs of remotes, such as one for SSH.
        repository: A regular expression for the path of a repository on a host.
        issue_url: The URL of an issue, with ``{host}``, ``{repo}`` and ``{number}``.
        request_url: The URL of a request, in the same way.
        request_name: What the forge calls a request.
        request_ref: The ref of the repository that has a request's commits, with ``{number}``.
        fork_head: The head of a request from another repository, with ``{owner}`` and ``{branch}``.
        environment: Variables for its program.
        commands: What the program can do, by our name: ``issue``, ``comments``, ``writer``,
            ``identity``, ``find``, ``open``, ``look``.
    """

    name: str
    program: str
    hosts: tuple[str, ...]
    repository: str
    issue_url: str
    request_url: str
    install: str = ""
    login: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    request_name: str = "request"
    request_ref: str = ""
    fork_head: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, ForgeCommand] = field(default_factory=dict)

    def knows(self, host: str) -> bool:
        """Whether repositories at this host belong to the forge."""
        return host in self.hosts or host in self.aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoRef:
    """A repository on a forge: the name of the forge, the host, and the path on it."""

    forge: str
    host: str
    repo: str

    def is_same(self, other: RepoRef) -> bool:
        """Whether both are one repository; forges do not tell capital letters apart."""
        return (self.host, self.repo.casefold()) == (other.host, other.repo.casefold())


def fill_word(word: str, values: Mapping[str, str]) -> str:
    """Return ``word`` with each name in braces replaced, in one pass.

    Raises:
        KeyError: A value is missing.
    """
    return _PLACE.sub(lambda found: values[found[1]], word)


def values_of(place: RepoRef, **more: str) -> dict[str, str]:
    """Return the values of the names in a command about ``place``; ``more`` has those beside it."""
    values = {"host": place.host, "repo": place.repo, **more}
    quoted = {f"{name}_quoted": quote(values.get(name, ""), safe="") for name in ("repo", "branch")}
    return {**values, **quoted}


def url_of(template: str, place: RepoRef, number: int) -> str:
    """Return the URL of an issue or a request of a repository."""
    return fill_word(template, {"host": place.host, "repo": place.repo, "number": str(number)})


def read_url(spec: ForgeSpec, template: str, url: str) -> tuple[RepoRef, int] | None:
    """Return the repository and the number that a URL of an issue or a request names.

    None if ``url`` does not have the form of ``template``, or its host is not the forge's.
    """
    parts = _PLACE.split(template)
    pattern = re.escape(parts[0])
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        pattern += _IN_URL[name].replace("{repository}", spec.repository) + re.escape(text)
    match = re.fullmatch(pattern + _NO_TAIL, url)
    if match is None or not spec.knows(match["host"].lower()):
        return None
    host = match["host"].lower()
    place = RepoRef(forge=spec.name, host=spec.aliases.get(host, host), repo=match["repo"])
    return place, int(match["number"])
