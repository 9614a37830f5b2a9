"""Reads pipeline definitions: built-in ones, the user's and the project's.

A definition is ``NAME.yaml`` in one of three folders. The prompts and schemas that it names are
beside it, or built in. This module finds them and limits their size; `core/definitions` checks
their content.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.shape import replace_invisible
from agentmux.core.definitions.definition_check import names
from agentmux.core.definitions.located import Problem
from agentmux.core.definitions.source import NAME_FORM, Origin, Source, is_name
from agentmux.core.names import layout
from agentmux.errors import DataError

BUILT_IN: Final = Path(__file__).resolve().parent.parent.parent / "pipelines"
FOLDER: Final = "pipelines"
DEFINITION_MAX: Final = 64 << 10
"""The size limit of a definition in bytes; in JSON form it may have a quarter of that."""
PROMPT_MAX: Final = 64 << 10
SCHEMA_MAX: Final = 64 << 10
FILES_MAX: Final = 100
"""The maximum number of definitions that are read from one folder."""
_MISSING: Final = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineFolder:
    """A folder of pipeline definitions.

    Attributes:
        origin: Whose definitions they are: those of AgentMux, of the project or of the user.
        path: The folder, which may not exist.
        shown: How messages name the folder, such as ``.agentmux/pipelines``.
    """

    origin: Origin
    path: Path
    shown: str


def pipeline_folders(project: Path, user: Path | None) -> tuple[PipelineFolder, ...]:
    """Return the folders that are searched for definitions; they may not exist.

    They are in the order of the search (built-in, the project's, the user's): of two definitions
    with one name, the first one counts.

    Args:
        project: The project's folder.
        user: The folder of the user's configuration; None to leave it out.
    """
    own = f"{layout.PROJECT_FOLDER}/{FOLDER}"
    shared = (
        PipelineFolder(origin=Origin.BUILT_IN, path=BUILT_IN, shown=f"agentmux/{FOLDER}"),
        PipelineFolder(origin=Origin.PROJECT, path=project / own, shown=own),
    )
    if user is None:
        return shared
    place = user / FOLDER
    return (*shared, PipelineFolder(origin=Origin.USER, path=place, shown=str(place)))


def names_in(folder: PipelineFolder) -> tuple[str, ...]:
    """Return the names of the definitions in a folder, sorted: file names without ``.yaml``.

    Definitions that cannot be used are included. At most `FILES_MAX` are returned; none if the
    folder is missing or cannot be read.
    """
    try:
        with os.scandir(folder.path) as entries:
            file_names = sorted(each.name for each in entries if each.name.endswith(".yaml"))
    except OSError:
        return ()
    return tuple(name.removesuffix(".yaml") for name in file_names[:FILES_MAX])


def read_source(folder: PipelineFolder, name: str) -> Source | None:
    """Return a definition with the files that it names; None if there is no such definition.

    ``name`` is the name of the definition's file without ``.yaml``. What cannot be read does not
    raise: ``problems`` of the result is about the definition, ``wrong`` about the other files.
    """
    path = replace_invisible(f"{folder.shown}/{name}.yaml")
    blank = Source(name=name, origin=folder.origin, path=path)
    if not is_name(name):
        there = name in names_in(folder)
        return _refuse_approval(blank, f"the file's name: {NAME_FORM}") if there else None
    data, why = _beside(folder.path, f"{name}.yaml", DEFINITION_MAX)
    if data is not None:
        return _read(folder, blank, data)
    return None if why == _MISSING else _refuse_approval(blank, why)


def _refuse_approval(source: Source, why: str) -> Source:
    return replace(source, problems=(Problem(line=1, what=why),))


def _read(folder: PipelineFolder, blank: Source, data: bytes) -> Source:
    from agentmux.adapters.yaml.located import load_located

    item, problems = load_located(data)
    named = names(item)
    prompts = _Beside(folder.path, PROMPT_MAX, built_in=BUILT_IN.parent / "prompts")
    schemas = _Beside(folder.path, SCHEMA_MAX)
    for name in sorted(named.prompts):
        prompts.take(name)
    for name in sorted(named.schemas):
        schemas.take(name)
    return replace(
        blank,
        text=data.decode("utf-8", "replace"),
        item=item,
        prompts=prompts.texts,
        schemas=schemas.texts,
        wrong={**_useless(schemas.texts), **prompts.wrong, **schemas.wrong},
        own=frozenset(name for name in (*prompts.texts, *schemas.texts) if _is_path(name)),
        problems=problems,
    )


class _Beside:
    """The files of one kind that a definition names: their texts, or why they cannot be used."""

    def __init__(self, folder: Path, limit: int, *, built_in: Path | None = None) -> None:
        self._folder, self._limit, self._built_in = folder, limit, built_in
        self.texts: dict[str, str] = {}
        self.wrong: dict[str, str] = {}

    def take(self, name: str) -> None:
        """Read the file ``name``: add its text to ``texts``, or to ``wrong`` why it is unusable.

        A missing file is added to neither. A name with neither ``/`` nor ``.`` means the built-in
        file of that name, without its ``.md``.
        """
        if not _is_path(name):
            path = None if self._built_in is None else self._built_in / f"{name}.md"
            if path is not None and path.is_file():
                self.texts[name] = path.read_text("utf-8")
            return
        data, why = _beside(self._folder, name, self._limit)
        try:
            if data is not None:
                self.texts[name] = data.decode("utf-8")
        except UnicodeDecodeError as error:
            why = f"byte {error.start} is not UTF-8"
        if why and why != _MISSING:
            self.wrong[name] = why


def _is_path(name: str) -> bool:
    return "/" in name or "." in name


def _useless(schemas: Mapping[str, str]) -> Mapping[str, str]:
    if not schemas:
        return {}
    from agentmux.adapters.yaml.json_schema import schema_problem

    return {name: schema_problem(text) for name, text in schemas.items()}


def _beside(folder: Path, name: str, limit: int) -> tuple[bytes | None, str]:
    """Return the content of a file below ``folder``, or None and why it cannot be used.

    A link may lead to another place in the folder, but not out of it. If the file does not exist,
    the reason is `_MISSING`.
    """
    top, real = os.path.realpath(folder), os.path.realpath(folder / name)
    if not Path(real).is_relative_to(top):
        return None, "it is a link that leads out of the folder of the pipelines"
    try:
        data = files.read_strict(real, limit)
    except (ValueError, DataError) as error:
        return None, str(error)
    return data, _MISSING if data is None else ""
