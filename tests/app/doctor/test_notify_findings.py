"""What doctor says of notifications."""

import pytest

from agentmux.app.doctor.finding import Level
from agentmux.app.doctor.project import notify_findings
from agentmux.core.config.settings import Address, NotifyRule, Settings


@pytest.mark.parametrize(
    ("to", "install", "level", "mend"),
    [
        (("bell", "ntfy://tk_secret"), "pip install apprise", Level.WARNING, "pip install apprise"),
        (("bell", "ntfy://tk_secret"), "", Level.OK, ""),
        (("bell", "desktop"), "pip install apprise", Level.OK, ""),
        ((), "pip install apprise", Level.OK, ""),
    ],
    ids=["missing", "there", "not needed", "nobody"],
)
def test_apprise_is_missed_only_where_an_address_needs_it(
    to: tuple[str, ...], install: str, level: Level, mend: str
) -> None:
    settings = Settings(notify=(NotifyRule(to=tuple(map(Address, to))),))
    (found,) = notify_findings(settings, install)
    assert (found.level, found.mend) == (level, mend)
    assert "tk_secret" not in found.text
