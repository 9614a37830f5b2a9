"""The rows of the table of results: measured values and their limits."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        value: In ``unit``; a ratio has the unit ``x``.
        limit: The largest allowed value; None for a row that only explains another one.
        note: More details, such as the two sides of a ratio.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def is_over(self) -> bool:
        return self.limit is not None and self.value > self.limit

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "over" if self.is_over else "ok"


def p50(values: Sequence[float]) -> float:
    """Return the median.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        msg = "nothing was measured"
        raise ValueError(msg)
    return statistics.median(values)


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float], limit: float | None) -> Row:
    """Return the ratio of two medians; all values are in seconds."""
    mine, base = p50(ours), p50(theirs)
    note = f"{mine * 1000:.1f} ms against {base * 1000:.1f} ms"
    return Row(name=name, value=mine / base, unit="x", limit=limit, note=note)


def milliseconds(
    name: str, seconds: Sequence[float], limit: float | None = None, note: str = ""
) -> Row:
    """Return the median in milliseconds; its note gives the number of values and their range."""
    spread = f"{len(seconds)} times, {min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f} ms"
    return Row(
        name=name,
        value=p50(seconds) * 1000,
        unit="ms",
        limit=limit,
        note=f"{note}; {spread}" if note else spread,
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [("name", "p50", "limit", "", "note")]
    lines += [
        (
            row.name,
            f"{row.value:.4g} {row.unit}",
            "" if row.limit is None else f"{row.limit:g} {row.unit}",
            row.verdict,
            row.note,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    shown = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([shown[0], rule, *shown[1:]])
