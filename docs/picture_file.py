"""Turn the capture of a terminal into a picture that says the same every time. Pure."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
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

_LINES: Final = str.maketrans("jklmnqtuvwx", "┘┐┌└┼─├┤┴┬│")
_SHIFTED: Final = re.compile("\x0e([^\x0f]*)\x0f?")
_TIME: Final = re.compile(r"(?<!\d)(?:(\d{8}-\d{4})(\d\d)|(\d\d:\d\d)(:\d\d)?)(?!\d)")
_BEGIN: Final = datetime(2026, 1, 1, 10, 15)  # noqa: DTZ001 (a clock on a wall)


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
    rows = Text.from_ansi(_lines(capture)).split("\n", allow_blank=True)
    while rows and not str(rows[-1]).strip() and not rows[-1].spans:
        rows.pop()
    wide = max(row.cell_len for row in rows)
    console = Console(record=True, width=wide, file=io.StringIO(), force_terminal=True)
    for row in rows:
        console.print(row, no_wrap=True, crop=False, overflow="ignore", highlight=False)
    made = console.export_svg(title=title, theme=_THEME, code_format=_TEMPLATE, unique_id="t")
    made = re.sub(r' clip-path="[^"]*"', "", made).replace("&#160;", "\xa0")
    return re.sub(r"(?<=>)<(?=text|rect)", "\n<", made)


def _lines(capture: str) -> str:
    """Return the capture with the letters that stand for lines as lines."""
    return _SHIFTED.sub(lambda found: found[1].translate(_LINES), capture)
