"""The step `request`: open a pull or merge request for the pushed branch, or find the open one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.steps.push import push_target
from agentmux.app.delivery.steps.work import Record, StepWork
from agentmux.app.session.configuration.forge_place import find_forge_remotes, target
from agentmux.core.documents.secret_values import hide_secrets, secrets_of
from agentmux.core.forges.spec import RepoRef, read_url
from agentmux.core.pipeline.artifacts import summary_path
from agentmux.core.pipeline.result_text import request_body, request_title
from agentmux.errors import UsageError
from agentmux.ports.forge import ForgeError, ForgeRequest, Forges, NewRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_SUMMARY_MAX: Final = 1_000_000


def request_base(world: World, state: SessionState, remote: str) -> str:
    """Return the branch into which a request asks to merge.

    That is the branch from which the session's branch was created, else the remote's main branch.

    Raises:
        UsageError: No such branch is known, or it is the session's own branch.
    """
    began = state.base.branch if state.base is not None else None
    base = began or world.git.remote_branches.main_branch(remote)
    if base is None:
        raise UsageError(
            f"it is not known into which branch of {remote} a request would go",
            hints=(f"git remote set-head {remote} --auto", "or approve with --push"),
        )
    if base == state.branch:
        raise UsageError(
            f"the result is on branch `{base}` itself, so that there is nothing to request",
            hints=("approve it with --push or --keep",),
        )
    return base


def request_target(world: World, state: SessionState, environ: Mapping[str, str]) -> Record:
    """Return which request would be opened for the pushed branch; asks no forge.

    ``environ`` is the environment for git and the forge's program.

    Returns:
        The ``forge``, ``host`` and ``repo`` of the request; ``source``, the repository that has the
        branch; ``branch`` and ``base``.

    Raises:
        UsageError: No request can be opened for this session's remotes and branches.
        ForgeError: The forge's program is not installed.
    """
    remote = push_target(world, state, environ)
    into = target(world, environ)
    places = {each.remote: each.repository for each in find_forge_remotes(world, environ)}
    source = places.get(remote)
    if source is None or (source.forge, source.host) != (
        into.repository.forge,
        into.repository.host,
    ):
        raise UsageError(
            f"the result is pushed to {remote}, which is not on {into.repository.host}",
            hints=("approve it with --push, and open the request by hand",),
        )
    world.forge(environ).require_program(into.repository)
    return {
        "forge": into.repository.forge,
        "host": into.repository.host,
        "repo": into.repository.repo,
        "source": source.repo,
        "branch": state.branch or "",
        "base": request_base(world, state, remote),
    }


class RequestStep:
    """Opens a request with the forge's own command-line program."""

    def prepare(self, work: StepWork) -> Record:
        """Return which request to open: the fields of `request_target`, ``commit`` and ``title``.

        If the session has a request already, also its ``number``.
        """
        state = work.state
        number = {} if state.request is None else {"number": str(state.request.number)}
        return {
            **request_target(work.world, state, work.environ),
            "commit": work.result,
            "title": hide_secrets(request_title(state), _secrets(work)),
            **number,
        }

    def perform(self, work: StepWork, record: Record) -> Record:
        """Open the request, unless it is open already; return its ``number``, ``url`` and ``kind``.

        ``record`` is what `prepare` returned, and is only read. ``kind`` is what the forge calls a
        request. The result also has ``adopted``: ``yes`` if the request was open already, else
        ``no``.
        """
        forge = work.world.forge(work.environ)
        ours = _ours(forge, record)
        adopted = ours is not None
        if ours is None:
            ours = _open_request(forge, record, _new(work, forge, record))
        name = forge.specs[record["forge"]].request_name
        return {
            "number": str(ours.number),
            "url": ours.url,
            "kind": name,
            "adopted": "yes" if adopted else "no",
        }

    def describe_result(self, record: Record) -> str:
        """Return a phrase with the kind, number and URL of the request."""
        verb = "updated" if record.get("adopted") == "yes" else "opened"
        return f"{verb} {record.get('kind', 'request')} #{record['number']}: {record['url']}"


def _place(record: Record, repo: str = "repo") -> RepoRef:
    return RepoRef(forge=record["forge"], host=record["host"], repo=record[repo])


def _ours(forge: Forges, record: Record) -> ForgeRequest | None:
    """Return the open request from our repository at our commit; None if there is none.

    A request that somebody else opened for a branch of the same name does not count.

    Raises:
        ForgeError: There is a request from our repository, but it stays at another commit.
    """
    place = _place(record)
    source = forge.identity(_place(record, "source")).casefold()
    if "number" in record:
        named = (forge.request(place, int(record["number"])),)
        requests = [each for each in named if each.is_open and each.branch == record["branch"]]
    else:
        requests = list(forge.requests(place, record["branch"]))
    requests = [each for each in requests if each.source.casefold() == source]
    requests.sort(key=lambda each: (each.base != record["base"], each.number))
    at_ours = next((each for each in requests if each.commit == record["commit"]), None)
    if at_ours is not None or not requests:
        return at_ours
    late = forge.wait_for_commit(place, requests[0].number, record["commit"])
    if late.commit != record["commit"]:
        raise ForgeError(
            f"{late.url} is open for branch {record['branch']}, but it is at commit"
            f" {late.commit[:12]}, not at {record['commit'][:12]}",
            hints=("look at it, then approve again",),
        )
    return late


def _new(work: StepWork, forge: Forges, record: Record) -> NewRequest:
    summary = summary_path(work.state)
    data = work.world.files(work.home).read_artifact(summary, _SUMMARY_MAX)[0] or b""
    body = request_body(
        work.state, data.decode("utf-8", "replace"), closes=_closes(forge, work.state, record)
    )
    return NewRequest(
        place=_place(record),
        source=_place(record, "source"),
        branch=record["branch"],
        base=record["base"],
        title=record["title"],
        body=hide_secrets(body, _secrets(work)),
        is_draft=work.world.settings.completion.draft,
    )


def _closes(forge: Forges, state: SessionState, record: Record) -> str:
    """Return the issue as a request in this repository refers to it; empty if there is none."""
    spec = forge.specs[record["forge"]]
    issue = None if state.issue is None else read_url(spec, spec.issue_url, state.issue.url)
    if issue is None or issue[0].host != record["host"]:
        return ""
    place, number = issue
    return f"#{number}" if place.is_same(_place(record)) else f"{place.repo}#{number}"


def _open_request(forge: Forges, record: Record, new: NewRequest) -> ForgeRequest:
    """Open a request, and return it.

    Raises:
        ForgeError: It was not opened.
    """
    try:
        reply = forge.open(new)
    except ForgeError:
        # It may be open all the same, for example if the connection broke after that.
        request = _ours(forge, record)
        if request is None:
            raise
        return request
    spec = forge.specs[record["forge"]]
    urls = (read_url(spec, spec.request_url, word) for word in reversed(reply.split()))
    named = next((each for each in urls if each is not None), None)
    request = forge.request(*named) if named is not None else _ours(forge, record)
    if request is None:
        raise ForgeError(
            f"{spec.program} opened a request, but {record['host']} does not list it",
            hints=("approve again: it is then found",),
        )
    return request


def _secrets(work: StepWork) -> frozenset[str]:
    """Return the values that must not be published, from ``.env`` files and the environment."""
    secrets = work.world.secrets(work.world.tree) | work.world.secrets(work.world.project)
    return secrets | frozenset(secrets_of(work.environ))
