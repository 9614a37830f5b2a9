"""The fast dataclass decorator behaves like the standard one."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import pprint
from typing import ClassVar

import pytest

from agentmux.core.codec import frozen
from agentmux.core.journal.events import FACTS, Approved, Event
from agentmux.core.journal.state import SessionState


@frozen.dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    kind: ClassVar[str] = "k"
    name: str
    count: int = 2
    tags: dict[str, int] = frozen.field(default_factory=dict)


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
    changed = Quick(name="n", count=9, tags={"a": 1})
    assert frozen.replace(one, count=9) == dataclasses.replace(one, count=9) == changed
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_it_is_hashed_by_value() -> None:
    event = Event(id="e", at="", seat="s", launch="", cycle=1, fact=Approved())
    assert len({event, dataclasses.replace(event)}) == 1


@frozen.dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: int = 2


def test_without_kw_only_values_go_by_their_place_too() -> None:
    assert Pair(1) == Pair(1, 2) == Pair(1, right=2) == Pair(left=1, right=2)
    with pytest.raises(TypeError, match="takes at most 2 positional values"):
        Pair(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="`left` is given twice"):
        Pair(1, left=1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="`left` is missing"):
        Pair()  # type: ignore[call-arg]
    match Pair(1):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_a_class_has_the_fields_of_its_base_before_its_own() -> None:
    @frozen.dataclass(frozen=True, slots=True, kw_only=True)
    class Quicker(Quick):
        speed: int
        count: int = 3

    one = Quicker(name="n", speed=1)
    assert repr(one).endswith("Quicker(name='n', count=3, tags={}, speed=1)")
    assert frozen.replace(one, name="m", speed=2).name == "m"
    assert list(Quicker.__slots__) == ["speed"]
    assert not hasattr(one, "__dict__")
    assert one != Quick(name="n", count=3)


def test_a_field_may_be_left_out_of_what_is_compared_or_shown() -> None:
    @frozen.dataclass(frozen=True, slots=True, kw_only=True)
    class Seen:
        name: str
        times: int = frozen.field(default=0, compare=False)
        secret: str = frozen.field(default="", repr=False)

    assert Seen(name="n", times=1) == Seen(name="n")
    assert "secret" not in repr(Seen(name="n"))


def test_the_standard_library_works_on_it() -> None:
    one, other = Quick(name="n"), Standard(name="n")
    assert dataclasses.is_dataclass(Quick)
    assert [(f.name, f.type, f.default) for f in dataclasses.fields(one)] == [
        (f.name, f.type, f.default) for f in dataclasses.fields(other)
    ]
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    assert pprint.pformat(one) == repr(one)


def test_what_it_cannot_make_is_refused() -> None:
    with pytest.raises(TypeError, match="only for frozen"):
        frozen.dataclass(frozen=False, slots=True)
    with pytest.raises(TypeError, match="needs the `field` of this module"):

        @frozen.dataclass(frozen=True, slots=True)
        class Mixed:
            tags: list[int] = dataclasses.field(default_factory=list)


def test_the_classes_of_a_signal_are_made_with_it() -> None:
    assert {fact.__repr__ for fact in FACTS.values()} == {SessionState.__repr__}
