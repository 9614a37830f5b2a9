"""A session of the fleet that is exported on its host, and comes back."""

import pytest

from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.rare("a session of a fleet is seldom moved")


def test_a_feature_whose_session_was_exported_is_moved_until_it_is_back(host: FleetHost) -> None:
    feature = host.submit()
    worker = host.worker()
    host.until(feature, "waiting")
    name = host.show(feature)["session"]
    host.project.ok("stop", name)
    assert host.until(feature, "failed")["reason"] == "its session was stopped on its host"

    file = str(host.project.root / "s.agentmux")
    host.project.ok("export", name, file)
    shown = host.until(feature, "moved")
    assert shown["reason"] == "its session was exported to another host"
    (row,) = (line for line in host.ok("list").splitlines() if line.startswith(feature[:8]))
    assert row.split()[1] == "moved"
    assert "is moved already" in host.fails(3, "cancel", feature)

    files = [each for each in host.session(feature).path.iterdir() if each.is_file()]
    whole = {each: each.read_bytes() for each in files}
    for each in whole:
        each.write_bytes(b"damaged")
    other = host.submit()
    host.until(other, "waiting")
    name = host.show(other)["session"]
    host.project.ok("stop", name)
    host.project.ok("export", name, str(host.project.root / "other.agentmux"))
    host.until(other, "moved")
    assert host.show(feature)["status"] == "moved"
    for each, data in whole.items():
        each.write_bytes(data)

    worker.end()
    host.project.ok("import", file)
    host.worker()  # it looks at what happened while there was none
    assert host.until(feature, "failed")["reason"] == "its session was stopped on its host"
    host.ok("retry", feature)
    host.until(feature, "waiting")
    host.ok("approve", feature, "--yes")
    host.until(feature, "done")
    assert host.commits() == ["add a greeting"]
