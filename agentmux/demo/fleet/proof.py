"""Checks that the fleet demo lost nothing and did nothing twice. Pure.

It relies on commits and folders, not on what the fleet's own database says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.demo.claims import Claim

LOG_FORMAT: Final = "%H%x1f%P%x1f%s%x1f%(trailers:key=Agentmux-Event,valueonly,separator=%x2C)"
"""The ``--format`` of ``git log`` whose output `read_commits` parses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCommit:
    """A commit of the shared repository.

    Attributes:
        id: The commit's id.
        parents: The ids of its parents.
        subject: The first line of its message.
        event: The id of the approval for which it was made; empty if it names none.
    """

    id: str
    parents: tuple[str, ...]
    subject: str
    event: str


def read_commits(log: str) -> tuple[CountedCommit, ...]:
    """Parse the output of ``git log`` with the format `LOG_FORMAT`; return commits in its order."""
    commits = []
    for line in log.splitlines():
        name, parents, subject, event = line.split("\x1f")
        commits.append(
            CountedCommit(
                id=name, parents=tuple(parents.split()), subject=subject, event=event.strip()
            )
        )
    return tuple(commits)


def claims(
    features: Sequence[str],
    commits: Sequence[CountedCommit],
    branches: Mapping[str, str],
    sessions: Mapping[str, Sequence[str]],
) -> Iterator[Claim]:
    """Check the shared repository and the sessions of the hosts; yield the result of each check.

    Args:
        features: The features of the backlog, each as the subject that its commit must have.
        commits: All commits of the shared repository.
        branches: The id of the newest commit of each branch, by the branch's name.
        sessions: The names of the sessions on each host, by the host's name.
    """
    later_commits = [each for each in commits if each.parents]
    yield _once(features, later_commits)
    yield _on_main(later_commits, commits, branches)
    yield _claim_approvals(later_commits)
    yield _sessions(features, sessions)


def _once(features: Sequence[str], made: Sequence[CountedCommit]) -> Claim:
    counted = Counter(each.subject for each in made)
    wrong = [
        f"`{name}` {counted[name]} times"
        for name in sorted(counted.keys() | set(features))
        if counted[name] != (name in features)
    ]
    if wrong:
        return Claim(holds=False, text=f"commits: {', '.join(wrong)}")
    return Claim(
        holds=True, text=f"{len(features)} features were submitted, and each has one commit"
    )


def _on_main(
    made: Sequence[CountedCommit], commits: Sequence[CountedCommit], branches: Mapping[str, str]
) -> Claim:
    first = [each.id for each in commits if not each.parents]
    own = {name: tip for name, tip in branches.items() if name != "main"}
    holds = (
        len(first) == 1
        and branches.get("main") == first[0]
        and sorted(own.values()) == sorted(each.id for each in made)
        and all(each.parents == (first[0],) for each in made)
    )
    return Claim(
        holds=holds,
        text=f"{len(own)} branches were pushed, with {len(made)} commits on top of main"
        + ("" if holds else ": not one each"),
    )


def _claim_approvals(made: Sequence[CountedCommit]) -> Claim:
    events = {each.event for each in made}
    holds = "" not in events and len(events) == len(made)
    return Claim(holds=holds, text=f"{len(made)} commits name {len(events)} different approvals")


def _sessions(features: Sequence[str], sessions: Mapping[str, Sequence[str]]) -> Claim:
    counted = sum(map(len, sessions.values()))
    where = ", ".join(f"{len(names)} on host {host}" for host, names in sessions.items())
    return Claim(
        holds=counted == len(features) and all(sessions.values()),
        text=f"{counted} sessions were begun: {where}",
    )
