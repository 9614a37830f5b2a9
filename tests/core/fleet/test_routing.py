"""Which host takes a feature that another host cannot take."""

from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.routing import HostFacts, host_with_room

FREE = HostFacts(id="a", name="a", slots=4, busy=1, age_s=1)


def test_the_host_with_the_most_free_slots_takes_it() -> None:
    other = replace(FREE, id="b", busy=0)
    assert host_with_room([FREE, other], ()) == "b"
    assert host_with_room([FREE, other], {"b"}) == "a"


def test_no_host_takes_it_that_is_full_gone_or_drained() -> None:
    assert host_with_room([replace(FREE, busy=4)], ()) is None
    assert host_with_room([replace(FREE, age_s=61)], ()) is None
    assert host_with_room([replace(FREE, draining=True)], ()) is None
    assert host_with_room([replace(FREE, running=False)], ()) is None
    assert host_with_room([], ()) is None
