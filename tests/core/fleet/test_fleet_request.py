"""What may be submitted to the fleet, there and back."""

import json

import pytest

from agentmux.core.fleet.fleet_request import (
    FEATURE_MAX,
    FleetRequest,
    difference,
    from_fields,
    require_request,
    session_slug,
    to_fields,
)
from agentmux.core.names import layout
from agentmux.errors import UsageError

ID = "01234567-89ab-cdef-0123-456789abcdef"
WHOLE = FleetRequest(
    repo="https://example.org/o/r.git",
    feature="add a greeting\nwith a name",
    issue="#7",
    key="backlog/7",
    host="big-box.example",
    priority=1,
    pipeline="quick",
    agent="claude",
    roles=("coder=codex:gpt-5",),
    base="origin/main",
    then="pr",
    comments=True,
    product_manager=True,
)


@pytest.mark.parametrize("fleet_request", [WHOLE, FleetRequest(repo="/work/repo", feature="x")])
def test_a_request_comes_back_as_it_was(fleet_request: FleetRequest) -> None:
    assert from_fields(json.loads(json.dumps(to_fields(fleet_request)))) == fleet_request


def test_a_usual_value_is_not_written() -> None:
    assert to_fields(FleetRequest(repo="/r", feature="x")) == {"repo": "/r", "feature": "x"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"feature": " \n"}, "say what to build"),
        ({"feature": "x" * (FEATURE_MAX + 1)}, "larger than"),
        ({"feature": "a\0b"}, "no text"),
        ({"agent": "--yes"}, "is not an agent's name"),
        ({"base": "-f"}, "is not a commit"),
        ({"pipeline": "../x"}, "is not the name of a pipeline"),
        ({"host": "a b"}, "is not a host's name"),
        ({"key": "-k"}, "is not a key"),
        ({"issue": "$(x)"}, "is not an issue's number"),
        ({"roles": ("coder",)}, "--role must be"),
        ({"roles": ("--x=y",)}, "--role must be"),
        ({"priority": 0}, "a priority is a number"),
        ({"then": "force"}, "`then` is one of"),
        ({"comments": True}, "--comments"),
        ({"repo": "relative"}, "is no repository"),
    ],
)
def test_a_request_with_a_wrong_word_is_refused(values: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"repo": "/r", "feature": "x", **values}
    with pytest.raises(UsageError, match=said):
        require_request(FleetRequest(**given))  # type: ignore[arg-type]  # some are wrong


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"repo": 1},
        {"repo": "/r", "feature": 1},
        {"repo": "/r", "feature": "x", "roles": "coder=a"},
        {"repo": "/r", "feature": "x", "roles": [1]},
        {"repo": "/r", "feature": "x", "priority": "1"},
        {"repo": "/r", "feature": "x", "priority": True},
        {"repo": "/r", "feature": "x", "argv": ["rm"]},
    ],
)
def test_what_another_wrote_into_the_database_is_checked_again(fields: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        from_fields(fields)


def test_the_difference_names_each_field_with_both_values() -> None:
    old, new = (
        FleetRequest(repo="/r", feature="x"),
        FleetRequest(repo="/r", feature="x" * 99, agent="codex"),
    )
    found = difference(old, new)
    assert [each.partition(":")[0] for each in found] == ["feature", "agent"]
    assert found[1] == "agent: nothing before, `codex` now"
    assert max(map(len, found)) < 160
    assert difference(old, old) == ()


def test_the_name_of_a_session_follows_from_the_feature() -> None:
    fleet_request = FleetRequest(
        repo="/r", feature="Add a greeting with a rather long name, and then some"
    )
    name = session_slug(ID, fleet_request, 1)
    assert name == session_slug(ID, fleet_request, 1)
    assert layout.is_topic(name)
    assert name.endswith("-01234567")
    again = session_slug(ID, fleet_request, 2)
    assert again.endswith("-01234567-2")
    assert layout.is_topic(again)
    assert session_slug(ID, FleetRequest(repo="/r", issue="7"), 1) == "issue-7-01234567"
