"""What AgentMux knows about a forge: how to recognise it, and which commands to run.

``agentmux/forges.yaml`` has the built-in forges; docs/reference/forges.md explains the keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from agentmux.core.codec.frozen import dataclass, field

PLACEHOLDERS: Final = (
    "host", "repo", "repo_quoted", "number", "author", "author_id", "branch", "branch_quoted",
    "base", "head", "source", "title", "body",
)  # fmt: skip
"""The placeholders that the words of a command may contain in braces, such as ``{repo}``."""

_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_NO_TAIL: Final = r"(?:[/?#].*)?"
_IN_URL: Final[Mapping[str, str]] = {
    "host": r"(?P<host>[A-Za-z0-9.-]+(?::\d+)?)",
    "repo": r"(?P<repo>{repository})",
    "number": r"(?P<number>[1-9]\d{0,9})",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeCommand:
    """A command of a forge's program, and where its JSON answer has the values we need.

    A path is a sequence of keys, joined by dots.

    Attributes:
        argv: The words of the command line after the program's name, with placeholders in braces.
        stdin: The input of the command, with placeholders in braces; empty if it needs none.
        draft: Words to add if the request is a draft.
        fork: Words to add if the commits are in another repository than the request.
        entries: The path of the list in the answer; empty if the whole answer is the list.
        fields: Maps each of our names, such as ``title``, to the paths of its value in the answer,
            or in an entry of the list. The values of several paths are joined with ``/``.
        skip: The path in an entry whose true value excludes the entry; empty if all are used.
        accept: For ``writer``: the values of its field ``answer`` that mean that the author may
            write. For ``find`` and ``look``: the values of ``state`` that mean an open request.
        missing: A regular expression that matches the program's error if a readable repository has
            no issue or request with the number; empty if the program's errors do not tell.
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
    """What AgentMux knows about one forge. A *request* is a pull or merge request.

    Attributes:
        name: The forge's name in AgentMux.
        program: The name of its command-line program.
        install: Where users get that program.
        login: The command with which a user logs in, for messages, with ``{host}``.
        hosts: The hosts in the URLs of its repositories.
        aliases: Maps other host names in URLs of remotes, such as one for SSH, to a host.
        repository: A regular expression for the path of a repository on a host.
        issue_url: The URL of an issue, with ``{host}``, ``{repo}`` and ``{number}``.
        request_url: The URL of a request, with the same placeholders.
        request_name: What the forge calls a request.
        request_ref: The ref in the repository that has a request's commits, with ``{number}``.
        fork_head: How a request names a branch in another repository, with ``{owner}`` and
            ``{branch}``; empty if the branch's name alone is enough.
        environment: Environment variables for its program.
        commands: The commands of the program, by our names: ``issue`` and ``comments`` (read an
            issue), ``writer`` (may this author write to the repository), ``identity`` (the
            repository's name in requests), ``find`` (the open requests for a branch), ``look`` (one
            request) and ``open`` (open a request).
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
        """Whether the forge has repositories at ``host``, given in lower case."""
        return host in self.hosts or host in self.aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoRef:
    """A repository on a forge.

    Attributes:
        forge: The name of the forge.
        host: The host of the repository, in lower case.
        repo: The path of the repository on the host, such as ``owner/name``.
    """

    forge: str
    host: str
    repo: str

    def is_same(self, other: RepoRef) -> bool:
        """Whether both are the same repository; forges ignore the case of the path."""
        return (self.host, self.repo.casefold()) == (other.host, other.repo.casefold())


def fill_word(word: str, values: Mapping[str, str]) -> str:
    """Return ``word`` with each placeholder in braces replaced by its value.

    Braces inside a value are not replaced again.

    Raises:
        KeyError: ``values`` lacks a placeholder.
    """
    return _PLACE.sub(lambda found: values[found[1]], word)


def values_of(place: RepoRef, **more: str) -> dict[str, str]:
    """Return the values for `fill_word` in a command that is about the repository ``place``.

    Args:
        place: The repository; gives ``host`` and ``repo``.
        more: The values of other placeholders, such as ``number`` or ``branch``.

    Returns:
        These values by the name of the placeholder, and ``repo_quoted`` and ``branch_quoted``,
        which are quoted for a URL.
    """
    values = {"host": place.host, "repo": place.repo, **more}
    quoted = {f"{name}_quoted": quote(values.get(name, ""), safe="") for name in ("repo", "branch")}
    return {**values, **quoted}


def url_of(template: str, place: RepoRef, number: int) -> str:
    """Return the URL of an issue or request in a repository.

    ``template`` is `ForgeSpec.issue_url` or `ForgeSpec.request_url`.
    """
    return fill_word(template, {"host": place.host, "repo": place.repo, "number": str(number)})


def read_url(spec: ForgeSpec, template: str, url: str) -> tuple[RepoRef, int] | None:
    """Return the repository and the number in the URL of an issue or request.

    A path, query or fragment after the number is ignored.

    Args:
        spec: The forge.
        template: Its ``issue_url`` or ``request_url``.
        url: The URL, as the user typed it.

    Returns:
        None if ``url`` does not have the form of ``template``, or if its host is not the forge's.
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
