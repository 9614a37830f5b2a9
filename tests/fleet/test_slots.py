"""Slots are counted over all queues, and given in turn."""

import threading

from agentmux.fleet.host.slots import Slots
from tests.conftest import WaitUntil


def _never() -> bool:
    return False


def _take(slots: Slots, feature: str, rank: int, order: list[str]) -> threading.Thread:
    def run() -> None:
        if slots.take(feature, rank, _never):
            order.append(feature)

    made = threading.Thread(target=run)
    made.start()
    return made


def test_a_feature_holds_one_slot_however_often_it_asks() -> None:
    slots = Slots(2)
    assert slots.take("a", 1, _never)
    assert slots.take("a", 1, _never)
    assert slots.busy == 1
    slots.free("a")
    slots.free("a")
    assert slots.busy == 0


def test_who_gives_up_has_none_and_is_in_nobodys_way() -> None:
    slots = Slots(1)
    assert slots.take("a", 1, _never)
    assert not slots.take("b", 0, lambda: True)
    slots.free("a")
    assert slots.take("c", 9, lambda: True)


def test_the_lowest_rank_is_served_first(wait_until: WaitUntil) -> None:
    slots, order = Slots(1), list[str]()
    slots.take("held", 0, _never)
    threads = []

    def waits() -> int:
        return len(slots._waiting)

    for number, (feature, rank) in enumerate([("late", 5), ("new", 1000), ("begun", 1)], 1):
        threads.append(_take(slots, feature, rank, order))
        wait_until(lambda number=number: waits() == number)
    for feature in ("held", "begun", "late", "new"):
        slots.free(feature)
        wait_until(lambda: slots.busy == 1 or not waits())
    for each in threads:
        each.join(60)
    assert order == ["begun", "late", "new"]


def test_a_slot_that_is_handed_over_is_one(wait_until: WaitUntil) -> None:
    slots, order = Slots(1), list[str]()
    assert slots.take("admission", 1000, _never)
    drive = _take(slots, "drive", 1, order)
    wait_until(lambda: len(slots._waiting) == 1)
    slots.hand_over("admission", "drive")
    drive.join(60)
    assert order == ["drive"]
    slots.free("admission")
    assert slots.busy == 1
