"""Rows of the desk for its tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentmux.app.views.rows import SessionRow
from agentmux.core.names import layout
from agentmux.core.names.status_labels import SessionStatus, status_group, status_label
from agentmux.desk.list.listing import DeskRow

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
SHOP = Path("/work/shop")


def row(
    slug: str,
    status: SessionStatus = SessionStatus.RUNNING,
    *,
    project: Path = SHOP,
    stamp: str = "20260101-101500",
    phase: str = "implementing",
    minutes: float = 5,
    **values: Any,
) -> DeskRow:
    """Return the row of a session that changed some minutes before `NOW`."""
    name = f"{stamp}-{slug}"
    shown = SessionRow(
        session=name,
        group=status_group(status),
        phase=phase,
        status=status,
        label=status_label(status),
        ago="",
        branch="",
        is_apart=False,
        title=slug.replace("-", " "),
    )
    return DeskRow(
        path=project / layout.SESSIONS_DIR / name,
        project=project,
        row=shown,
        updated=NOW - timedelta(minutes=minutes),
        words=f"{slug} {shown.title} {project.name} {phase}",
        **values,
    )
