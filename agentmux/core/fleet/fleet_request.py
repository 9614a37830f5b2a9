"""The request with which a user submits a feature or an issue to the fleet. Pure.

A request is validated where it is submitted, and again on the host that runs it, because others can
write to the database in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass, field, fields
from agentmux.core.codec.records import Json
from agentmux.core.fleet.repositories import require_repository
from agentmux.core.names import layout
from agentmux.core.names.statuses import DELIVERY_WAYS
from agentmux.errors import UsageError

FEATURE_MAX: Final = 1_000_000
"""The longest text of a feature, in bytes of UTF-8."""
PRIORITIES: Final = (1, 1000)
"""The most urgent and the least urgent priority."""
NORMAL: Final = 100
"""The default priority."""
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:#/@-]{0,127}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:=-]{0,199}")
_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@{}^~+-]{0,199}")
_PIPELINE: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_ISSUE: Final = re.compile(r"#?[0-9]{1,9}|https://[A-Za-z0-9._/#-]{1,500}")
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FORMS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "key": (_KEY, "a key (letters, digits and `._:#/@-`)"),
    "host": (_HOST, "a host's name (letters, digits and `._-`)"),
    "pipeline": (_PIPELINE, "the name of a pipeline"),
    "agent": (_NAME, "an agent's name"),
    "base": (_REF, "a commit, a branch or a tag"),
    "issue": (_ISSUE, "an issue's number or URL"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRequest:
    """A request to build one feature in the fleet.

    Attributes:
        repo: The repository: an absolute path, or a URL.
        feature: What to build; may be empty if there is an issue.
        issue: The number or URL of the issue that says what to build; empty if there is none.
        key: An idempotency key: a second request with the same key does not add a second feature.
            Empty if there is none.
        host: The name of the host that has to run the feature; empty for any host.
        priority: The priority, from 1 (first) to 1000.
        pipeline: The name of the pipeline; empty means as configured on the host.
        agent: The agent of every role that ``roles`` does not name; empty means as configured.
        roles: The agents of single roles, each as ``ROLE=AGENT[:MODEL]``.
        base: The commit, branch or tag from which the worktree is created; empty means as
            configured, or the default branch of a clone.
        then: What happens to the result after an approval that does not say so itself: ``keep``
            (nothing), ``merge``, ``push`` or ``pr`` (a pull request). Empty means as configured.
        comments: Whether the comments of the issue are part of the text.
        product_manager: Whether a product manager writes requirements first.
    """

    repo: str
    feature: str = ""
    issue: str = ""
    key: str = ""
    host: str = ""
    priority: int = NORMAL
    pipeline: str = ""
    agent: str = ""
    roles: tuple[str, ...] = field(default=())
    base: str = ""
    then: str = ""
    comments: bool = False
    product_manager: bool = False

    @property
    def title(self) -> str:
        """The first line of the feature's text, or the issue if there is no text."""
        first = " ".join(self.feature.strip().partition("\n")[0].split())
        return first or f"issue {self.issue}"


def require_request(request: FleetRequest) -> FleetRequest:
    """Check every field of a request, and return the request unchanged.

    Raises:
        UsageError: A field is invalid; the error names the first one.
    """
    require_repository(request.repo)
    problem = next(chain(_text_problems(request), _word_problems(request)), None)
    if problem is not None:
        raise UsageError(problem)
    return request


def _text_problems(request: FleetRequest) -> Iterator[str]:
    least, most = PRIORITIES
    if not request.feature.strip() and not request.issue:
        yield "say what to build: a feature, or an issue"
    if len(request.feature.encode("utf-8", "replace")) > FEATURE_MAX or "\0" in request.feature:
        yield f"the feature is larger than {FEATURE_MAX} bytes, or no text"
    if not least <= request.priority <= most:
        yield f"a priority is a number from {least} (first) to {most}"
    if request.then and request.then not in DELIVERY_WAYS:
        yield f"`then` is one of {', '.join(DELIVERY_WAYS)}, not `{request.then[:80]}`"
    if request.comments and not request.issue:
        yield "--comments are those of an issue: it needs --issue"


def _word_problems(request: FleetRequest) -> Iterator[str]:
    for name, (form, what) in _FORMS.items():
        value = getattr(request, name)
        if value and form.fullmatch(value) is None:
            yield f"`{value[:80]}` is not {what}"
    for each in request.roles:
        if _NAME.fullmatch(each) is None or "=" not in each:
            yield f"--role must be ROLE=AGENT[:MODEL], not `{each[:80]}`"


def to_fields(request: FleetRequest) -> dict[str, object]:
    """Return the attributes of a request by name, as plain values that ``json`` can write.

    Those that have their default are left out.
    """
    plain = {each.name: getattr(request, each.name) for each in fields(FleetRequest)}
    plain["roles"] = [*request.roles]
    return {key: value for key, value in plain.items() if key == "repo" or value != _usual(key)}


def _usual(name: str) -> object:
    usual = getattr(FleetRequest(repo=""), name)
    return [*usual] if isinstance(usual, tuple) else usual


def from_fields(given: Json) -> FleetRequest:
    """Return the request from plain values that `to_fields` made, after validating it.

    Raises:
        UsageError: ``given`` is not a valid request.
    """
    known = {each.name for each in fields(FleetRequest)}
    unknown = sorted(set(given) - known)
    if unknown or not isinstance(given.get("repo"), str):
        raise UsageError(f"a feature of the fleet has unknown or missing fields: {unknown[:5]}")
    values: dict[str, Any] = {}
    for name, value in given.items():
        usual = getattr(FleetRequest(repo=""), name)
        if isinstance(usual, tuple):
            good = isinstance(value, list) and all(isinstance(each, str) for each in value)
        else:
            good = type(value) is type(usual)
        if not good:
            raise UsageError(f"the field `{name}` of a feature of the fleet is wrong")
        values[name] = tuple(value) if isinstance(value, list) else value
    return require_request(FleetRequest(**values))


def difference(old: FleetRequest, new: FleetRequest) -> tuple[str, ...]:
    """Return a text for each field that differs between two requests, with both values.

    For example ``priority: `100` before, `5` now``. Empty if the requests are equal.
    """
    differences = []
    for each in fields(FleetRequest):
        before, after = getattr(old, each.name), getattr(new, each.name)
        if before != after:
            differences.append(f"{each.name}: {_short(before)} before, {_short(after)} now")
    return tuple(differences)


def _short(value: object) -> str:
    text = " ".join(value) if isinstance(value, tuple) else str(value)
    line = " ".join(text.split())
    shown = line if len(line) <= 60 else f"{line[:59]}…"
    return f"`{shown}`" if shown else "nothing"


def session_slug(feature_id: str, request: FleetRequest, epoch: int) -> str:
    """Return the name of the session of a feature: words of its title, and part of its uuid.

    Equal arguments give the same name, so that a worker that was killed while it started the
    session finds the session again. A feature that starts over has another epoch, and so another
    session.

    Args:
        feature_id: The uuid of the feature.
        request: The request of the feature.
        epoch: How often the feature has been given to a host, from 1.
    """
    tail = feature_id.replace("-", "")[:8] + (f"-{epoch}" if epoch > 1 else "")
    room = layout.SLUG_MAX - len(tail) - 1
    words = layout.slug(request.title)[:room].strip("-")
    return f"{words}-{tail}"
