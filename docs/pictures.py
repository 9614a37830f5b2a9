"""Make the pictures of every screen from the real program: ``./dev pictures [NAME...]``.

Real sessions of the offline agent run in a home of their own; keys are pressed in a real terminal
(a tmux server of its own), and a real browser. What the screen shows then is the picture.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from docs import picture_demo, picture_fleet, picture_page
from docs.picture_demo import make_film
from docs.picture_file import same_clock, svg
from docs.picture_stage import Stage, Terminal, leave_at_signals
from docs.picture_story import Story

FOLDER: Final = Path(__file__).parent / "pictures"
_ID: Final = re.compile(
    r"(?<![0-9a-f])(?=[0-9a-f]*\d)(?:[0-9a-f]{12}(?![0-9a-f])|[0-9a-f]{5,11}(?=…))"
)


class Gallery:
    """Writes the pictures."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        """Write pictures of a stage into a folder."""
        self.folder, self._stage = folder, stage
        self._same_clock = same_clock(datetime.now(UTC).replace(tzinfo=None))

    def take(self, name: str, terminal: Terminal, title: str) -> None:
        """Write what a terminal shows now.

        Raises:
            StageError: It shows a path of this machine.
        """
        self.write(f"{name}.svg", svg(self.same(terminal.capture()), title).encode())

    def same(self, text: str) -> str:
        """Return a text of a screen as it would be on any machine, at any time."""
        told = self._same_clock(self._stage.same(text))
        return _ID.sub(lambda found: "0123456789ab"[: len(found[0])], told)

    def write(self, name: str, data: bytes) -> None:
        """Write a picture, unless it says the same as before but for digits."""
        file = self.folder / name
        if not file.exists() or _words(file.read_bytes()) != _words(data):
            file.write_bytes(data)


def _words(data: bytes) -> bytes:
    return re.sub(rb"[0-9.]+", b"0", data) if data.startswith(b"<svg") else data


# --- the scenes -----------------------------------------------------------------------------


def commands(story: Story, gallery: Gallery) -> None:
    """What commands print."""
    name = story.names
    lines = (
        ("list", "agentmux list", "yours to decide"),
        ("status", f"agentmux status {name['login']}", "coder-2"),
        ("resume-plan", f"agentmux resume --dry-run {name['dark']}", "coder-2"),
    )
    for picture, line, word in lines:
        shown = re.sub(r"\d{8}-\d{6}-", "", line)
        command = f"echo {shlex.quote('$ ' + shown)}; {line}; echo; printf '$ '"
        with story.stage.terminal(command, cwd=story.shop, size=(110, 40)) as terminal:
            terminal.shows(word, "\n$\n")
            gallery.take(picture, terminal, shown)


def desk(story: Story, gallery: Gallery) -> None:
    """The desk: its tabs, and its boxes."""
    with story.stage.terminal("agentmux", cwd=story.shop, size=(120, 32)) as terminal:
        terminal.shows("> mail-invoices", "1 interrupted", "safe to resume")
        terminal.press("o")
        terminal.shows("> export-orders", "c: ask for changes", "Summary", "Changes")
        gallery.take("desk", terminal, "agentmux")
        terminal.press("3")
        terminal.shows("1 of ")
        terminal.until("summary.md", ".")
        gallery.take("desk-documents", terminal, "agentmux")
        for key, name, word in (
            ("4", "diff", "diff --git"),
            ("5", "why", "completing"),
            ("6", "journal", "handed in"),
        ):
            terminal.press(key)
            terminal.shows(word)
            gallery.take(f"desk-{name}", terminal, "agentmux")
        terminal.press("1", "a")
        _box(gallery, terminal, "desk-approve", "What an approval of", "a or y yes")
        terminal.press("Up", "x")
        _box(gallery, terminal, "desk-answer", "architect of", "Do you want to proceed")
        terminal.press("Down", "Down")
        terminal.shows("> login")
        terminal.press("2")
        terminal.shows("live: coder-1", "Working")
        gallery.take("desk-screens", terminal, "agentmux")
        terminal.press("1", "Down")
        terminal.shows("> dark-theme")
        terminal.press("R")
        _box(gallery, terminal, "desk-resume", "What a resume of", "coder-2")
        terminal.press("n")
        terminal.shows("Enter twice")
        terminal.type("Let customers pay with a voucher")
        _box(gallery, terminal, "desk-new", "Let customers pay with a voucher")


def _box(gallery: Gallery, terminal: Terminal, name: str, *words: str) -> None:
    """Take the picture of a box, and close it."""
    terminal.shows(*words)
    gallery.take(name, terminal, "agentmux")
    terminal.press("Escape")
    terminal.lacks(words[0])


def monitor(story: Story, gallery: Gallery) -> None:
    """A session's window: at work, with a question, at a decision, and after a resume."""
    scenes = (
        ("login", ("coder-1", "coder-2", "Working"), "work", ""),
        ("mail", ("Your turn", "Do you want to proceed"), "question", ""),
        ("export", ("a approve",), "decision", ""),
        ("export", ("diff --git",), "diff", "d"),
        ("export", ("All keys of the monitor", "C-b d"), "keys", "?"),
    )
    for session, words, name, key in scenes:
        line = f"agentmux attach {story.names[session]}"
        with story.stage.terminal(line, cwd=story.shop, size=_WINDOW) as terminal:
            terminal.shows("C-b d detaches")
            if key:
                terminal.press(key)
            terminal.shows(*words)
            gallery.take(f"monitor-{name}", terminal, "agentmux attach")
            if key:
                terminal.press("Escape")
                terminal.shows("C-b d detaches")


def picker(story: Story, gallery: Gallery) -> None:
    """The list in which one session is picked."""
    with story.stage.terminal("agentmux resume", cwd=story.shop, size=(110, 26)) as terminal:
        terminal.shows("Resume which session?")
        terminal.until("A dark theme", "Down")
        terminal.shows("last screen of")
        gallery.take("picker", terminal, "agentmux resume")


def stopped(story: Story, gallery: Gallery) -> None:
    """The panes of a session that was resumed by ``resume.policy: confirm``: each waits."""
    file = story.shop.parent / "confirm.yaml"
    file.write_text("version: 1\nresume: {policy: confirm}\n", encoding="utf-8")
    line = f"agentmux --config {file} resume {story.names['dark']}"
    with story.stage.terminal(line, cwd=story.shop, size=_WINDOW) as terminal:
        terminal.shows("Restart fresh", "waits for your choice in its pane")
        gallery.take("stopped-panes", terminal, "agentmux resume")


def page(story: Story, gallery: Gallery) -> None:
    """The web page, in two widths; without a browser it is left out."""
    scenes = (
        ("sessions", "", "yours to decide"),
        ("session", f"sessions/{story.names['login']}", "coder-2"),
        ("question", f"sessions/{story.names['mail']}", "Do you want to proceed"),
        ("decision", f"sessions/{story.names['export']}", "Your decision"),
        ("screens", f"sessions/{story.names['login']}/screens", "Working"),
    )
    _shots(story, gallery, scenes, picture_page.WIDTHS)


def _shots(
    story: Story,
    gallery: Gallery,
    scenes: Sequence[tuple[str, str, str]],
    widths: Iterable[str],
    *,
    whole: bool = False,
) -> None:
    """Take pictures of the page: each by its name, at an address, with a word that is seen."""
    if picture_page.chromium() is None:
        print("there is no chromium: the pictures of the page stay as they are", file=sys.stderr)
        return
    served, browsers = picture_page.served, picture_page.browsers
    with served(story.stage) as link, browsers(link) as pages:
        for name, path, word in scenes:
            for width in widths:
                address = f"{link.partition('/login/')[0]}/{path}"
                data = picture_page.shot(pages[width], address, word, gallery.same, whole=whole)
                gallery.write(f"page-{name}-{width}.png", data)


def fleet(story: Story, gallery: Gallery) -> None:
    """The fleet, in the desk and on the page. This is the last scene: it makes sessions."""
    with picture_fleet.fleet(story):
        with story.stage.terminal("agentmux", cwd=story.notes, size=(100, 26)) as terminal:
            terminal.shows("f the fleet")
            terminal.press("f")
            terminal.shows("1 to decide", "2 of 2 slots")
            gallery.take("desk-fleet", terminal, "agentmux")
        _shots(story, gallery, (("fleet", "fleet", "2 of 2 slots"),), ("1280",), whole=True)


_WINDOW: Final = (132, 32)
SCENES: Final[Mapping[Callable[[Story, Gallery], None], tuple[str, ...]]] = {
    commands: ("list.svg", "status.svg", "resume-plan.svg"),
    desk: (
        *("desk.svg", "desk-screens.svg", "desk-documents.svg", "desk-diff.svg", "desk-why.svg"),
        *("desk-journal.svg", "desk-approve.svg", "desk-answer.svg", "desk-resume.svg"),
        "desk-new.svg",
    ),
    monitor: (
        *("monitor-work.svg", "monitor-question.svg", "monitor-decision.svg", "monitor-diff.svg"),
        "monitor-keys.svg",
    ),
    picker: ("picker.svg",),
    page: tuple(
        f"page-{name}-{width}.png"
        for name in ("sessions", "session", "question", "decision", "screens")
        for width in picture_page.WIDTHS
    ),
    stopped: ("stopped-panes.svg",),
    fleet: ("desk-fleet.svg", "page-fleet-1280.png"),
}
"""All pictures but the film of the demo, by the scene that makes them."""


def main(wanted: Sequence[str]) -> str | None:
    """Make the pictures of all scenes, or of those that make a wanted one; return what is wrong."""
    known = {picture_demo.NAME, *(name for names in SCENES.values() for name in names)}
    if unknown := set(wanted) - known:
        return (
            f"no such picture: {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}"
        )
    if not wanted or picture_demo.NAME in wanted:
        with Stage() as stage:
            gallery = Gallery(FOLDER, stage)
            gallery.write(picture_demo.NAME, make_film(stage, gallery.same).encode())
    if not wanted or set(wanted) - {picture_demo.NAME}:
        with Stage() as stage:
            story = Story(stage)
            gallery = Gallery(FOLDER, stage)
            for scene, names in SCENES.items():
                if not wanted or set(wanted) & set(names):
                    scene(story, gallery)
    return None


if __name__ == "__main__":
    leave_at_signals()
    sys.exit(main(sys.argv[1:]))
