"""The pictures of every screen are made from the real program, and pages show them."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from agentmux.adapters.system.processes.processes import processes_with_variable
from docs import picture_demo
from docs.picture_file import Frame, film
from docs.picture_stage import Stage
from docs.pictures import FOLDER, SCENES, Gallery

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]
SHOWN = [
    (page, text, (page.parent / path).resolve())
    for page in PAGES
    for text, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text("utf-8"))
]


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    made = {each.resolve() for each in FOLDER.iterdir()}
    assert {path for _, _, path in SHOWN} == made
    scenes = {name for names in SCENES.values() for name in names}
    assert {each.name for each in made} == {*scenes, picture_demo.NAME}


def test_every_picture_says_in_words_what_it_shows() -> None:
    assert [(page.name, path.name) for page, text, path in SHOWN if len(text) < 20] == []


def test_pictures_are_small_and_load_nothing() -> None:
    assert sum(each.stat().st_size for each in FOLDER.iterdir()) < 1_500_000
    drawn = [each for each in FOLDER.iterdir() if each.suffix == ".svg"]
    loads = re.compile(r"href|url\(|<script|foreignObject|@import")
    assert [each.name for each in drawn if loads.search(each.read_text())] == []


def test_the_readme_begins_with_one() -> None:
    first = (ROOT / "README.md").read_text().split("\n\n")[1]
    assert first.startswith("![")
    assert first.endswith("(docs/pictures/demo.svg)")


def words(svg: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", svg).split())


def test_the_film_of_the_readme_goes_from_the_start_to_the_approval() -> None:
    drawn = (FOLDER / picture_demo.NAME).read_text()
    assert len(drawn) < 500_000
    shown = [words(each) for each in drawn.split('<g class="f f')[1:]]
    for word in (
        *("agentmux start", "architect", "coder-2", "The tmux server was killed"),
        *("its conversation comes back", "continued", "tests: passed", "done 1"),
    ):
        assert any(word in each for each in shown), word
        while word not in shown[0]:  # in this order
            del shown[0]
    assert len(re.findall(r"@keyframes ", drawn)) == drawn.count('<g class="f f')


def test_a_film_moves_by_css_alone_and_stands_still_for_whom_it_should() -> None:
    frames = [
        Frame(capture="one\n", seconds=1),
        Frame(capture="two\nlines\n", seconds=2, still=True),
        Frame(capture="\x1b[31mthree\x1b[m\n", seconds=1),
    ]
    made = film(frames, "numbers")
    tree = ET.fromstring(made)
    groups = [each for each in tree.iter() if "f" in each.get("class", "").split()]
    assert ["".join(each.itertext()).split() for each in groups] == [
        ["one"], ["two", "lines"], ["three"],
    ]  # fmt: skip
    assert [each.get("class") for each in groups] == ["f f0", "f f1 still", "f f2"]
    assert "0.00%{visibility:visible}25.00%,100%{visibility:hidden}" in made
    assert "25.00%{visibility:visible}75.00%,100%{visibility:hidden}" in made
    assert "75.00%{visibility:visible}100%{visibility:visible}" in made
    _, _, calm = made.partition("@media (prefers-reduced-motion: reduce)")
    assert ".f { animation: none !important; }" in calm
    assert ".still { visibility: visible; }" in calm


@pytest.mark.long
def test_a_picture_is_what_the_program_shows(tmp_path: Path) -> None:
    with Stage() as stage:
        shop = stage.project("shop", {".agentmux/config.yaml": "version: 1\n"})
        stage.start(shop, "Export orders", {"default": {"think": 600}}, "--agent", "demo")
        with stage.terminal("agentmux list; echo; echo END", cwd=shop) as terminal:
            terminal.shows("END")
            gallery = Gallery(tmp_path, stage)
            gallery.take("list", terminal, "agentmux list")
        made = (tmp_path / "list.svg").read_text()
        assert stage.root.name not in made
    shown = re.sub(r"<[^>]+>", " ", made).replace("\xa0", " ")
    assert re.search(r"SESSION.*PHASE.* export-orders +architecting", shown, re.DOTALL)
    assert not stage.root.exists()
    (tmp_path / "list.svg").write_text(made.replace("1", "2"))
    gallery.write("list.svg", made.encode())
    assert (tmp_path / "list.svg").read_text() != made  # only digits differ
    gallery.write("list.svg", made.replace("export", "import").encode())
    assert "import-orders" in (tmp_path / "list.svg").read_text()


ENDED = """
import signal
from docs.picture_stage import Stage, leave_at_signals
leave_at_signals()
with Stage() as stage, stage.terminal("echo here", cwd=stage.home) as terminal:
    terminal.shows("here")
    print(stage.root, flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whatever_ends_the_making_nothing_stays(sig: signal.Signals) -> None:
    argv = (sys.executable, "-c", ENDED)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        root = made.stdout.readline().strip()
        assert processes_with_variable(f"AGENTMUX_PICTURES={root}")
        made.send_signal(sig)
        made.communicate(timeout=60)
    assert not processes_with_variable(f"AGENTMUX_PICTURES={root}")
    assert not Path(root).exists()
