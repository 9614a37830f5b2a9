"""What the worker read of a feature may be older than its newest drive."""

from agentmux.fleet.host import Order


def test_a_cancel_stops_the_drive_that_it_was_given_for_and_none_that_follows() -> None:
    order = Order(cancelled=True, epoch=1, drive=3)
    assert order.cancels(3)
    assert not order.cancels(4)  # a retry has begun it
    assert not Order(cancelled=False, epoch=1, drive=3).cancels(3)
