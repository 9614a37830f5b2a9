"""The fleet's own tables. They are in the same database as those of DBOS."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

CONTRACT: Final = 1
"""The version of the database's content that this program reads and writes.

It grows by 1 with each change that an older program would not understand.
"""

META: Final = sa.MetaData()
"""The collection of all tables below."""

CONTRACTS: Final = sa.Table(
    "agentmux_contract",
    META,
    sa.Column("one", sa.Integer, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("written_by", sa.String(64), nullable=False),
)
"""A single row with the contract version for which the database was created or migrated."""

HOSTS: Final = sa.Table(
    "agentmux_hosts",
    META,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False, unique=True),
    sa.Column("address", sa.String(255), nullable=False),
    sa.Column("folder", sa.Text, nullable=False, default=""),
    sa.Column("run", sa.String(36), nullable=False, default=""),
    sa.Column("slots", sa.Integer, nullable=False),
    sa.Column("busy", sa.Integer, nullable=False, default=0),
    sa.Column("running", sa.Boolean, nullable=False, default=False),
    sa.Column("draining", sa.Boolean, nullable=False, default=False),
    sa.Column("contract", sa.Integer, nullable=False),
    sa.Column("program", sa.String(64), nullable=False),
    sa.Column("lease_s", sa.Float, nullable=False),
    sa.Column("seen_at", sa.Float, nullable=False),
)
"""One row per host. ``seen_at`` is in seconds of Unix time, by the database's clock."""

HOST_REPOS: Final = sa.Table(
    "agentmux_host_repos",
    META,
    sa.Column("host", sa.String(36), primary_key=True),
    sa.Column("repos", sa.JSON, nullable=False),
)
"""The repositories that each host may run (``fleet.repos``), written when its worker starts.

The table is missing in a database that was created by an older version.
"""

FEATURES: Final = sa.Table(
    "agentmux_features",
    META,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("key", sa.String(128), unique=True),
    sa.Column("wish", sa.JSON, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Column("host", sa.String(36), index=True),
    sa.Column("pinned", sa.Boolean, nullable=False, default=False),
    sa.Column("refused_by", sa.JSON, nullable=False),
    sa.Column("session", sa.Text, nullable=False, default=""),
    sa.Column("path", sa.Text, nullable=False, default=""),
    sa.Column("phase", sa.String(64), nullable=False, default=""),
    sa.Column("pushed", sa.Text, nullable=False, default=""),
    sa.Column("result", sa.JSON),
    sa.Column("question", sa.JSON),
    sa.Column("epoch", sa.Integer, nullable=False, default=1),
    sa.Column("drive", sa.Integer, nullable=False, default=0),
    sa.Column("idle_drives", sa.Integer, nullable=False, default=0),
    sa.Column("progress", sa.Integer, nullable=False, default=0),
    sa.Column("resumes", sa.Boolean, nullable=False, default=False),
    sa.Column("cancelled", sa.Boolean, nullable=False, default=False),
    sa.Column("submitted_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
)
"""One row per submitted feature; `rows.Feature` describes the columns."""

DECISIONS: Final = sa.Table(
    "agentmux_decisions",
    META,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("feature", sa.String(36), nullable=False, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("cycle", sa.Integer, nullable=False),
    sa.Column("digest", sa.String(128), nullable=False),
    sa.Column("then", sa.String(16), nullable=False, default=""),
    sa.Column("begins", sa.String(64), nullable=False, default=""),
    sa.Column("text", sa.Text, nullable=False, default=""),
    sa.Column("by", sa.String(128), nullable=False, default=""),
    sa.Column("status", sa.String(16), nullable=False, default="open"),
    sa.Column("answer", sa.Text, nullable=False, default=""),
    sa.Column("given_at", sa.Float, nullable=False),
)
"""One row per decision on a feature; `rows.FeatureDecision` describes the columns."""
