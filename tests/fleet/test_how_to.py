"""What the page on several hosts shows works; systemd and ssh are tried by hand."""

import re

import pytest

from tests.e2e.test_how_to import blocks, shell
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long

PAGE = "fleet-several-hosts"


@pytest.mark.rare("CI runs the fleet of tests/fleet/test_faces.py")
def test_the_page_on_several_hosts_sets_up_a_host(host: FleetHost) -> None:
    host.place.keep_url("sqlite:////nowhere")
    init, service, look, drain, stale = blocks(PAGE)
    project = host.project
    url = next(line for line in init.splitlines() if line.startswith("postgresql://"))
    shell(project, init.replace(url, host.database))
    assert host.place.url() == host.database
    assert (host.place.folder / "url").stat().st_mode & 0o077 == 0
    assert not (project.path / "fleet-url").exists()

    (config,) = blocks(PAGE, "yaml")
    folder = project.home / "config" / "agentmux"
    (folder / "config.yaml").write_text(config.replace("/srv/projects/*", f"{project.root}/*"))
    shell(project, re.sub(r"^(systemctl|loginctl) .*\n", "", service, flags=re.MULTILINE))
    (unit,) = project.home.rglob("agentmux-fleet.service")
    assert "fleet worker --slots 3 --name alpha" in unit.read_text()
    shell(project, look)
    host.name = "alpha"
    worker = host.worker("--slots", "1")
    said = shell(project, drain + stale)
    assert "host alpha takes nothing more" in said
    assert worker.wait() == 0
