"""The files of a project that configure AgentMux; each is read once.

Some parts of them need trust: they are used only if the user has trusted them, or if the caller
allows them. The text that is used is always the text whose hash was checked, because no file is
read twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentmux.adapters.config import pipeline_files, prompt_files
from agentmux.core.codec.frozen import replace
from agentmux.core.config import trust
from agentmux.core.config.settings import CompletionSettings, GitSettings, Settings
from agentmux.core.definitions.source import Origin, Source
from agentmux.core.names import layout
from agentmux.core.names.phase import ROLES

if TYPE_CHECKING:
    from agentmux.adapters.config.layers import Layer
    from agentmux.adapters.disk.trust_store import TrustStore

T = TypeVar("T")


class ProjectFiles:
    """The configuration of one project, as read from its files and the user's own files.

    Some parts of the project's files need the user's trust. A part's key is a dotted name, such as
    ``agents.claude`` (`trust.Part.key`). In the methods, ``keys`` are the keys of those parts that
    are allowed, whether they are trusted or not; None allows exactly the trusted ones. Parts that
    are not allowed are left out.
    """

    def __init__(
        self,
        project: Path,
        layers: tuple[Layer, ...],
        known: Callable[[], trust.TrustedParts],
        top: Callable[[], Path],
        user: Path | None = None,
    ) -> None:
        """Use these layers of the configuration; other files are read when they are needed.

        Args:
            project: The project's folder.
            layers: The configuration files, lowest first.
            known: Returns the trusted parts; called at most once.
            top: Returns the top of the project's checkout; called at most once.
            user: The folder of the user's configuration; None for none.
        """
        self._user = user
        self._sources: dict[tuple[Origin, str], Source | None] = {}
        self._project = project
        self._top = top
        self._layers = layers
        self._known = functools.cache(known)
        self._path = project / layout.PROJECT_CONFIG
        self._own = next((each for each in layers if each.path == self._path), None)
        self._configured = trust.parts_of(self._own.values) if self._own is not None else ()

    @property
    def trusted_parts(self) -> trust.TrustedParts:
        """The recorded hash of each part that the user trusts, by the part's key; read once."""
        return self._known()

    @functools.cached_property
    def parts(self) -> tuple[trust.Part, ...]:
        """All parts of the project's files that need trust, whether they are trusted or not.

        Raises:
            ConfigError: A prompt extension, or the file that the setting ``git.copy`` names, cannot
                be used.
        """
        added = (trust.prompt_part(role, text) for role, text in self._prompts.items())
        copied = () if self._copy_patterns is None else (trust.copied_part(self._copy_patterns),)
        defined = (_pipeline_part(each) for each in self._own_pipelines.values() if each.text)
        return (*self._configured, *added, *copied, *defined)

    @functools.cached_property
    def _prompts(self) -> Mapping[str, str]:
        prompts = {role: prompt_files.extension(self._project, role) for role in ROLES}
        return {role: text for role, text in prompts.items() if text is not None}

    @functools.cached_property
    def _folders(self) -> tuple[pipeline_files.PipelineFolder, ...]:
        return pipeline_files.pipeline_folders(self._project, self._user)

    @functools.cached_property
    def _own_pipelines(self) -> Mapping[str, Source]:
        """The pipelines of the project, by name."""
        folder = next(each for each in self._folders if each.origin is Origin.PROJECT)
        read = (
            pipeline_files.read_source(folder, name) for name in pipeline_files.names_in(folder)
        )
        return {each.name: each for each in read if each is not None}

    def pipeline_names(self) -> tuple[str, ...]:
        """Return each name of a pipeline definition once, allowed or not, built-in ones first."""
        names = (name for each in self._folders for name in pipeline_files.names_in(each))
        return tuple(dict.fromkeys(names))

    def shadowed_pipelines(self) -> tuple[str, ...]:
        """Return the paths of definitions that are hidden by another one with the same name.

        Each path is as messages show it, such as ``.agentmux/pipelines/NAME.yaml``. Empty if none
        is hidden.
        """
        seen: set[str] = set()
        hidden: list[str] = []
        for folder in self._folders:
            names = pipeline_files.names_in(folder)
            hidden += (f"{folder.shown}/{name}.yaml" for name in names if name in seen)
            seen.update(names)
        return tuple(hidden)

    def pipeline(self, name: str, keys: frozenset[str] | None) -> Source | None:
        """Return the first definition with this name that is allowed; None if there is none.

        It is searched among the built-in ones, then the project's, then the user's. A definition
        that cannot be read is returned, too: its ``problems`` say why.

        ``keys`` are the keys of the allowed parts (`trust.Part.key`); None allows the trusted ones.
        """
        for folder in self._folders:
            is_own = folder.origin is Origin.PROJECT
            source = self._own_pipelines.get(name) if is_own else self._read(folder, name)
            if source is not None and (not is_own or self._may_use(source, keys)):
                return source
        return None

    def _read(self, folder: pipeline_files.PipelineFolder, name: str) -> Source | None:
        """Read a definition; repeated calls return the first result."""
        key = (folder.origin, name)
        if key not in self._sources:
            self._sources[key] = pipeline_files.read_source(folder, name)
        return self._sources[key]

    def _may_use(self, source: Source, keys: frozenset[str] | None) -> bool:
        """Whether a pipeline of the project may be used.

        An unreadable one is allowed, as it is harmless.
        """
        part = _pipeline_part(source)
        return not source.text or part.key in self._select_allowed((part,), keys)

    @functools.cached_property
    def _copy_patterns(self) -> str | None:
        """The patterns of the files to copy into a new worktree; None if there are none."""
        name = _copy(self._layers)
        return None if name is None else prompt_files.project_text(self._top() / name)

    def copy_patterns(self, keys: frozenset[str] | None) -> str | None:
        """Return the patterns of the files to copy into a new worktree.

        They are the text of the file that the setting ``git.copy`` names, in the form of a
        ``.gitignore``. None if there are none, or if they are not allowed.
        ``keys`` are the keys of the allowed parts (`trust.Part.key`); None allows the trusted ones.

        Raises:
            ConfigError: The file cannot be used.
        """
        text = self._copy_patterns
        if text is None or _copy(self._usable(keys)) is None:
            return None
        part = trust.copied_part(text)
        return text if part.key in self._select_allowed((part,), keys) else None

    def trusted_and(self, keys: frozenset[str]) -> frozenset[str]:
        """Return the keys of the parts that may be used: the trusted ones, and those in ``keys``.

        Keys that name no part of the project are left out, and so are agents whose ``like`` names
        an agent of the project that may not be used.
        """
        return trust.select_usable(
            self.parts, keys | trust.select_trusted(self.parts, self.trusted_parts)
        )

    def settings(self, keys: frozenset[str] | None) -> Settings:
        """Return the configuration without the project's parts that are not allowed.

        ``keys`` are the keys of the allowed parts (`trust.Part.key`); None allows the trusted ones.
        """
        if not self._layers:
            return Settings()
        from agentmux.adapters.config.layers import combine_layers

        layers = self._usable(keys)
        combined = combine_layers(layers).settings
        # A project's file alone must never cause a merge or a push without a person.
        users = (each for each in layers if each.path != self._path)
        then = _find_setting(users, "completion", "then", CompletionSettings().then_alone)
        return replace(combined, completion=replace(combined.completion, then_alone=then))

    def trusted_layers(self) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
        """Return the layers without untrusted parts, and the keys of the parts left out.

        Only parts of the project's configuration file can be left out.
        """
        left_out = self._left_out(None)
        return self._usable(None), tuple(part.key for part in left_out)

    def _left_out(self, keys: frozenset[str] | None) -> tuple[trust.Part, ...]:
        """Return the parts of the project's configuration file that are not allowed."""
        there = self._select_allowed(self._configured, keys) if self._configured else frozenset()
        return tuple(part for part in self._configured if part.key not in there)

    def _usable(self, keys: frozenset[str] | None) -> tuple[Layer, ...]:
        """Return the layers without the project's parts that are not allowed."""
        left_out = self._left_out(keys)
        own = self._own
        return tuple(
            _without(each, left_out) if each is own and left_out else each for each in self._layers
        )

    def templates(self, keys: frozenset[str] | None) -> ProjectTemplates:
        """Return an object that reads the texts from which prompts are made.

        Texts that the project adds are among them, as far as they are allowed.
        ``keys`` are the keys of the allowed parts (`trust.Part.key`); None allows the trusted ones.
        """
        return ProjectTemplates(self, keys)

    def extension(self, role: str, keys: frozenset[str] | None) -> str | None:
        """Return the text that the project adds to the prompts of ``role``.

        None if it adds none, or if the text is not allowed.
        ``keys`` are the keys of the allowed parts (`trust.Part.key`); None allows the trusted ones.

        Raises:
            ConfigError: A file with such a text, of this or another role, cannot be used.
        """
        text = self._prompts.get(role)
        if text is None:
            return None
        part = trust.prompt_part(role, text)
        return text if part.key in self._select_allowed((part,), keys) else None

    def _select_allowed(
        self, parts: tuple[trust.Part, ...], keys: frozenset[str] | None
    ) -> frozenset[str]:
        return (
            trust.select_trusted(parts, self.trusted_parts)
            if keys is None
            else trust.select_usable(parts, keys)
        )


def _without(layer: Layer, parts: tuple[trust.Part, ...]) -> Layer:
    """Return a copy of the layer without these parts."""
    keys = [part.key for part in parts]
    sources = {
        at: place
        for at, place in layer.sources.items()
        if not any(at == key or at.startswith(f"{key}.") for key in keys)
    }
    return replace(layer, values=trust.without(layer.values, parts), sources=sources)


def _pipeline_part(source: Source) -> trust.Part:
    beside = {**source.prompts, **source.schemas}
    own = {name: text for name, text in beside.items() if name in source.own}
    return trust.pipeline_part(source.name, {f"{source.name}.yaml": source.text, **own})


def _find_setting(layers: Iterable[Layer], section: str, key: str, built_in: T) -> T:
    """Return the value of one key from the highest layer that sets it, or else ``built_in``."""
    sections = (each.values.get(section, {}) for each in layers)
    given = [values[key] for values in sections if key in values]
    return given[-1] if given else built_in


def _copy(layers: Iterable[Layer]) -> str | None:
    """Return the value of ``git.copy``."""
    return _find_setting(layers, "git", "copy", GitSettings().copy)


class ProjectTemplates:
    """The texts from which prompts are made, with those that the project may add (extensions).

    Implements `ports.session.templates.Templates`.
    """

    def __init__(self, project: ProjectFiles, keys: frozenset[str] | None) -> None:
        """Use the project; ``keys`` are the keys of the allowed parts (None: the trusted parts)."""
        self._project = project
        self._keys = keys

    def template(self, name: str, *, again: bool = False) -> str:
        return prompt_files.template(name, again=again)

    def extension(self, role: str) -> str | None:
        return self._project.extension(role, self._keys)

    def copy_patterns(self) -> str | None:
        return self._project.copy_patterns(self._keys)


class ProjectPipelines:
    """The definitions of pipelines, without those of the project that are not allowed.

    Implements `ports.session.pipelines.Pipelines`.
    """

    def __init__(self, project: ProjectFiles, keys: frozenset[str] | None) -> None:
        """Use the project; ``keys`` are the keys of the allowed parts (None: the trusted parts)."""
        self._project = project
        self._keys = keys

    def names(self) -> tuple[str, ...]:
        return self._project.pipeline_names()

    def list_shadowed(self) -> tuple[str, ...]:
        return self._project.shadowed_pipelines()

    def source(self, name: str) -> Source | None:
        return self._project.pipeline(name, self._keys)


class ProjectTrust:
    """The parts of a project's files that need trust, and the record of the trusted parts.

    Implements `ports.session.trust.Trust`.
    """

    def __init__(self, project: ProjectFiles, store: TrustStore) -> None:
        self._project = project
        self._store = store

    def parts(self) -> tuple[trust.Part, ...]:
        return self._project.parts

    def trusted_parts(self) -> trust.TrustedParts:
        return self._project.trusted_parts

    def keep(self, parts: trust.TrustedParts, *, only: bool = False) -> None:
        # Read again: another command may have trusted or revoked parts meanwhile.
        known = self._store.read()
        wanted = dict(parts) if only else {**known, **parts}
        if wanted != known:
            self._store.write(wanted)

    def revoke(self) -> None:
        """Remove the record of the trusted parts, so that no part of this project is trusted.

        Raises:
            DataError: The file with the record cannot be removed.
        """
        self._store.forget()
