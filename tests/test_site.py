"""`./dev docs` fails for what a reader of the site would stumble over."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="./dev check and ./dev docs install it")
pytestmark = pytest.mark.long

RARE = pytest.mark.rare("CI builds the site, and looks for one kind of broken link")
ROOT = Path(__file__).parent.parent
LINKED = (
    "See [how](docs/how-to/one.md), [contribute](CONTRIBUTING.md) and [security](SECURITY.md).\n"
)


class Site:
    """A site of few pages, with the configuration and the hook of the real one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(ROOT / "mkdocs.yml", folder)
        (folder / "docs/how-to").mkdir(parents=True)
        shutil.copy(ROOT / "docs/site_hook.py", folder / "docs")
        self.write("README.md", "# Readme\n\n" + LINKED)
        self.write("CONTRIBUTING.md", "# Contributing\n\n[Home](README.md), [license](LICENSE)\n")
        self.write("SECURITY.md", "# Security\n\n[Home](README.md)\n")
        self.write("LICENSE", "free\n")
        self.write("docs/how-to/one.md", "# One\n\n[Take part](../../CONTRIBUTING.md)\n")

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, "utf-8")

    def add(self, path: str, text: str) -> None:
        with (self.folder / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def build(self) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict"],
            check=False, cwd=self.folder, env={"NO_MKDOCS_2_WARNING": "1", "PATH": ""},
            capture_output=True, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_whole_site_is_built(site: Site) -> None:
    code, told = site.build()
    assert (code, "WARNING" in told) == (0, False), told
    first = (site.folder / ".cache/site/index.html").read_text("utf-8")
    assert 'href="how-to/one/"' in first
    assert 'href="CONTRIBUTING/"' in first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gone](two.md)\n", "two.md"),
        pytest.param("[gone](../../NOTICE.md)\n", "NOTICE.md", marks=RARE),
        pytest.param("[no heading](one.md#two)\n", "#two", marks=RARE),
        pytest.param("![no picture](../pictures/none.svg)\n", "none.svg", marks=RARE),
        pytest.param("[absolute](/how-to/one.md)\n", "absolute", marks=RARE),
    ],
)
def test_a_link_that_leads_nowhere_fails(site: Site, text: str, said: str) -> None:
    site.add("docs/how-to/one.md", text)
    code, told = site.build()
    assert code == 1
    assert said in told


def test_a_page_to_which_no_page_leads_fails(site: Site) -> None:
    site.write("docs/how-to/two.md", "# Two\n\n[Itself](two.md)\n")
    code, told = site.build()
    assert code == 1
    assert "no page links to 'how-to/two.md'" in told


def test_the_gate_is_this_build() -> None:
    gates = (ROOT / "dev").read_text("utf-8")
    assert "mkdocs build --strict ;;\n" in gates  # with --quiet, it counts no warnings
    assert re.search(r"^gates='.* docs ", gates, re.MULTILINE)
