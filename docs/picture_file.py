"""Turn the capture of a terminal into a picture that says the same every time. Pure."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

_THEME: Final = TerminalTheme(
    (24, 26, 31),
    (213, 216, 222),
    [
        (46, 52, 64),
        (224, 108, 117),
        (126, 190, 120),
        (222, 178, 90),
        (97, 160, 230),
        (190, 132, 220),
        (86, 182, 194),
        (200, 204, 210),
    ],
    [
        (110, 118, 132),
        (240, 130, 138),
        (150, 210, 140),
        (240, 200, 120),
        (130, 185, 245),
        (208, 155, 235),
        (115, 205, 215),
        (245, 246, 248),
    ],
)
_TEMPLATE: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"
height="{height}">
<style>
.t-matrix {{ font: {char_height}px ui-monospace, Menlo, "DejaVu Sans Mono", Consolas, monospace; }}
.t-title {{ font: 16px sans-serif; }}
{styles}
</style>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="t-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own template loads a font from another host."""

_END: Final = "\x1e"
_PARTS: Final = ("width", "height", "char_height", "x", "y", "chrome", "styles", "matrix")
_FRAME: Final = _END.join(
    (
        *("{width}", "{height}", "{char_height}", "{terminal_x}", "{terminal_y}", "{chrome}"),
        *("{styles}", '{backgrounds}\n<g class="matrix">\n{matrix}\n</g>'),
    )
)
"""What a film takes of each frame: `_PARTS`, in this order."""
_FILM: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"
height="{height}" role="img">
<title>{title}</title>
<style>
.matrix {{ font: {char_height}px ui-monospace, Menlo, "DejaVu Sans Mono", Consolas, monospace; }}
.t0-title {{ font: 16px sans-serif; }}
.f {{ visibility: hidden; }}
{styles}
@media (prefers-reduced-motion: reduce) {{
.f {{ animation: none !important; }}
.still {{ visibility: visible; }}
}}
</style>
{chrome}
<g transform="translate({x}, {y})">
{frames}
</g>
</svg>
"""

_LINES: Final = str.maketrans("jklmnqtuvwx", "┘┐┌└┼─├┤┴┬│")
_SHIFTED: Final = re.compile("\x0e([^\x0f]*)\x0f?")
_TIME: Final = re.compile(r"(?<!\d)(?:(\d{8}-\d{4})(\d\d)|(\d\d:\d\d)(:\d\d)?)(?!\d)")
_BEGIN: Final = datetime(2026, 1, 1, 10, 15)  # noqa: DTZ001 (a clock on a wall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A part of a film.

    Attributes:
        capture: What ``tmux capture-pane -peN`` wrote.
        seconds: How long it is shown.
        still: Whether it is what people see who prefer less motion; one frame of a film is.
    """

    capture: str
    seconds: float
    still: bool = False


def same_clock(began: datetime) -> Callable[[str], str]:
    """Return what moves all times in a text, as if the clock had shown one time when it began.

    Seconds stay, so that no two times become one.
    """
    began = began.replace(second=0, microsecond=0)

    def moved(found: re.Match[str]) -> str:
        stamp, second, clock, colon = found.groups()
        if stamp:
            at = datetime.strptime(stamp, "%Y%m%d-%H%M")  # noqa: DTZ007 (the same clock)
            return f"{at - began + _BEGIN:%Y%m%d-%H%M}{second}"
        passed = datetime.strptime(clock, "%H:%M") - began  # noqa: DTZ007 (the same clock)
        return f"{_BEGIN + timedelta(seconds=passed.seconds):%H:%M}{colon or ''}"

    return lambda text: _TIME.sub(moved, text)


def svg(capture: str, title: str) -> str:
    """Return the picture of what ``tmux capture-pane -peN`` wrote, as wide as its widest row."""
    rows = _rows(capture)
    return _drawn(rows, title, _TEMPLATE, "t", wide=max(row.cell_len for row in rows))


def film(frames: Sequence[Frame], title: str) -> str:
    """Return a picture that shows one capture after the other, and begins again after the last.

    It moves by CSS alone. Who prefers less motion sees the frame that is `Frame.still`.
    """
    shown = [_rows(each.capture) for each in frames]
    wide = max(row.cell_len for rows in shown for row in rows)
    high = max(map(len, shown))
    parts = [
        _drawn([*rows, *[Text()] * (high - len(rows))], title, _FRAME, f"t{at}", wide=wide)
        for at, rows in enumerate(shown)
    ]
    cells = [dict(zip(_PARTS, part.split(_END), strict=True)) for part in parts]
    groups = "\n".join(
        f'<g class="f f{at}{" still" if frame.still else ""}">\n{cell["matrix"].strip()}\n</g>'
        for at, (frame, cell) in enumerate(zip(frames, cells, strict=True))
    )
    styles = "\n".join(cell["styles"].strip() for cell in cells)
    first = cells[0]
    return _FILM.format(
        title=title,
        width=first["width"],
        height=first["height"],
        char_height=first["char_height"],
        chrome=first["chrome"],
        x=first["x"],
        y=first["y"],
        styles=f"{styles}\n{_motion([each.seconds for each in frames])}",
        frames=groups,
    )


def _motion(seconds: Sequence[float]) -> str:
    """Return the rules that show each frame for so many seconds, one after the other."""
    whole, begun, rules = sum(seconds), 0.0, list[str]()
    for at, each in enumerate(seconds):
        begin, end = 100 * begun / whole, 100 * (begun + each) / whole
        steps = [f"{begin:.2f}%{{visibility:visible}}", f"{end:.2f}%,100%{{visibility:hidden}}"]
        if at:
            steps.insert(0, "0%{visibility:hidden}")
        if at == len(seconds) - 1:
            steps[-1] = "100%{visibility:visible}"
        rules.append(f"@keyframes f{at}{{{''.join(steps)}}}")
        rules.append(f".f{at}{{animation:f{at} {whole:.1f}s step-end infinite}}")
        begun += each
    return "\n".join(rules)


def _drawn(rows: Sequence[Text], title: str, template: str, name: str, *, wide: int) -> str:
    """Return rows of a terminal in a template of Rich; ``name`` begins the names of its classes."""
    console = Console(record=True, width=wide, file=io.StringIO(), force_terminal=True)
    for row in rows:
        console.print(row, no_wrap=True, crop=False, overflow="ignore", highlight=False)
    made = console.export_svg(title=title, theme=_THEME, code_format=template, unique_id=name)
    made = re.sub(r' clip-path="[^"]*"', "", made).replace("&#160;", "\xa0")
    return re.sub(r"(?<=>)<(?=text|rect)", "\n<", made)


def _rows(capture: str) -> list[Text]:
    """Return the rows of a capture, without empty ones at its end."""
    rows = list(Text.from_ansi(_lines(capture)).split("\n", allow_blank=True))
    while rows and not str(rows[-1]).strip() and not rows[-1].spans:
        rows.pop()
    return rows


def _lines(capture: str) -> str:
    """Return the capture with the letters that stand for lines as lines."""
    return _SHIFTED.sub(lambda found: found[1].translate(_LINES), capture)
