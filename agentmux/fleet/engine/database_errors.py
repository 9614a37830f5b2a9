"""Advice for the user about a database that cannot be used. Pure.

A failed connection to PostgreSQL has no SQLSTATE, so the advice is chosen by the words of the error
message (of PostgreSQL or libpq). For a server that reports errors in a language other than English,
only the severity (``FATAL``) is recognized.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

_URL: Final = "in the URL: agentmux fleet init --url-file FILE"
_REFUSALS: Final = (
    (
        "certificate verify failed|root certificate file",
        "name the file of the authority that signed the server's certificate (sslrootcert=FILE) "
        + _URL,
    ),
    ("invalid [a-z_]+ value", f"correct it {_URL}"),
    ("resolve host", "check the name in the URL, and the network"),
    ("does not match host name", f"name the server as its certificate does, {_URL}"),
    ("server does not support SSL", "turn TLS on in the server's postgresql.conf: ssl = on"),
    (
        "password authentication failed|no password supplied",
        f"write the right password of role {{role}} {_URL}",
    ),
    ("pg_hba.conf", "let role {role} in from this host, in the server's pg_hba.conf"),
    ('role ".*" does not exist', "make the role at the server: createuser --pwprompt {role_word}"),
    ("not permitted to log in", "let the role log in: ALTER ROLE {role_name} LOGIN"),
    (
        'database ".*" does not exist',
        "make the database at the server: createdb --owner={role_word} {database_word}",
    ),
    (
        "permission denied for (database|schema)",
        "make the role its owner: ALTER DATABASE {database_name} OWNER TO {role_name}",
    ),
    (
        "too many (connections|clients)|connection slots",
        "raise max_connections in the server's postgresql.conf",
    ),
    ("No space left on device", "the server's disk is full: free some space, then try again"),
    # SQLITE_IOERR_SHMSIZE: the file beside the database cannot be made large enough.
    (
        "SQLITE_FULL|SQLITE_IOERR_SHMSIZE",
        "its disk is full: free some space, then try again: df -h {folder_word}",
    ),
    ("the database system is|administrator command", "try again in a moment"),
    ("FATAL:", "see the server's log"),
)
"""Pairs of a regular expression for the error message, and the advice; the first match counts.

In the advice, fields that end in ``_word`` are quoted for a shell, and fields that end in ``_name``
are quoted for SQL.
"""


def what_to_do(said: str, *, role: str, database: str, folder: str) -> str | None:
    """Return advice for the user on a database error, one sentence; None if it is not a known one.

    Args:
        said: The error message of the database or of its client library.
        role: The user name in the database's URL.
        database: The name of the database.
        folder: The folder that contains the SQLite database; unused for PostgreSQL.
    """
    advice = next((hint for words, hint in _REFUSALS if re.search(words, said)), None)
    return advice and advice.format(
        role=role,
        role_word=shlex.quote(role),
        role_name=_name(role),
        database_word=shlex.quote(database),
        database_name=_name(database),
        folder_word=shlex.quote(folder),
    )


def _name(text: str) -> str:
    """Return a name quoted as an SQL identifier."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"'
