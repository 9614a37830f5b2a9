"""Time zones by name, and the machine's own."""

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agentmux.adapters.system.time_zones import zones

BERLIN = ZoneInfo("Europe/Berlin")
SUMMER = datetime(2026, 7, 1, 12)  # noqa: DTZ001 (the zone is what is looked for)


@pytest.mark.parametrize(
    ("own", "name", "hours"),
    [
        ("Europe/Berlin", "", 2),
        (":Europe/Berlin", "", 2),
        ("Europe/Berlin", "America/Lima", -5),
        ("Europe/Berlin", "UTC", 0),
        ("", "", 0),
        ("no zone", "", 0),
    ],
)
def test_a_zone_is_found_by_its_name(own: str, name: str, hours: int, tmp_path: Path) -> None:
    found = zones(own, local=tmp_path / "none")(name)
    assert SUMMER.replace(tzinfo=found).utcoffset() == timedelta(hours=hours)
    assert found is not None


@pytest.mark.parametrize("name", ["Atlantis", "../../etc/passwd", "/etc/passwd", "Europe", "a\0b"])
def test_an_unknown_zone_is_none(name: str) -> None:
    assert zones("")(name) is None


def test_the_machine_has_a_zone(tmp_path: Path) -> None:
    file = tmp_path / "localtime"
    for folder in ("/usr/share/zoneinfo", "/usr/lib/zoneinfo"):
        if (source := Path(folder) / "Europe/Berlin").exists():
            file.write_bytes(source.read_bytes())
            assert SUMMER.replace(tzinfo=zones("", local=file)("")).utcoffset() == timedelta(
                hours=2
            )
    file.write_text("no zone")
    assert zones("", local=file)("") == ZoneInfo("UTC")
