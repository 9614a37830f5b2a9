"""The quick decorator makes what the standard one makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import ClassVar

import pytest

from agentmux.core import frozen
from agentmux.core.events import FACTS, Approved, Event
from agentmux.core.state import SessionState


@frozen.dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    kind: ClassVar[str] = "k"
    name: str
    count: int = 2
    tags: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    kind: ClassVar[str] = "k"
    name: str
    count: int = 2
    tags: dict[str, int] = dataclasses.field(default_factory=dict)


def test_it_looks_like_the_standard_one() -> None:
    one, other = Quick(name="n"), Standard(name="n")
    assert repr(one) == repr(other).replace("Standard", "Quick")
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    assert Quick.__slots__ == Standard.__slots__ == ("name", "count", "tags")
    assert [f.name for f in dataclasses.fields(Quick)] == [
        f.name for f in dataclasses.fields(Standard)
    ]
    assert Quick.kind == "k"
    assert not hasattr(one, "__dict__")


def test_it_compares_by_value_and_class() -> None:
    assert Quick(name="n") == Quick(name="n", count=2, tags={})
    assert Quick(name="n") != Quick(name="n", count=3)
    assert Quick(name="n") != Standard(name="n")  # type: ignore[comparison-overlap]
    assert Quick(name="n").tags is not Quick(name="n").tags


def test_it_is_frozen() -> None:
    one = Quick(name="n")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "m"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.name
    assert one.name == "n"


def test_it_takes_each_field_once_and_by_name() -> None:
    with pytest.raises(TypeError, match="`name` is missing"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="there is no `nmae`"):
        Quick(name="n", nmae="m")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Quick("n")  # type: ignore[call-arg]


def test_it_is_replaced_copied_and_pickled() -> None:
    one = Quick(name="n", tags={"a": 1})
    assert dataclasses.replace(one, count=9) == Quick(name="n", count=9, tags={"a": 1})
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_it_is_hashed_by_value() -> None:
    event = Event(id="e", at="", seat="s", launch="", cycle=1, fact=Approved())
    assert len({event, dataclasses.replace(event)}) == 1


def test_without_all_three_it_is_the_standard_one() -> None:
    @frozen.dataclass(frozen=True, slots=True)
    class Pair:
        left: int
        right: int

    assert Pair(1, 2) == Pair(left=1, right=2)


def test_the_classes_of_a_signal_are_made_with_it() -> None:
    assert {fact.__repr__ for fact in FACTS.values()} == {SessionState.__repr__}
