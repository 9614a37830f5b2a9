"""The pipeline of a session that is about to begin: found, checked, and ready to be frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.check import Checked
from agentmux.core.definitions.definition import PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.definitions.located import Problem
from agentmux.core.definitions.reading import shown
from agentmux.core.definitions.rules import Surroundings
from agentmux.core.definitions.source import Origin, Source, check_source, is_name, resolved
from agentmux.core.names import layout
from agentmux.core.names.nearest import meant
from agentmux.core.names.phase import ROLES
from agentmux.core.pipeline.registry import running
from agentmux.core.prompts.variables import VARIABLES
from agentmux.errors import ConfigError, DataError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.config.settings import Settings

_SHOWN: Final = 60


class PipelineError(ConfigError):
    """A pipeline cannot be used.

    Attributes:
        problems: Each with its line in the file at ``path``.
    """

    def __init__(self, name: str, path: str, problems: tuple[Problem, ...]) -> None:
        self.path, self.problems = path, problems
        lines = [f"{path}:{each.line}: {each.what}" for each in problems]
        count = f"pipeline `{name}` has {len(lines)} problems:\n  "
        super().__init__(
            lines[0] if len(lines) == 1 else count + "\n  ".join(lines),
            hints=(f"see it: agentmux pipelines show {name}",),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPipeline:
    """A pipeline that a session can go through.

    Attributes:
        origin: Who wrote it.
        definition: The pipeline as the session goes through it.
        files: The SHA-256 of each prompt and schema that came from a file, by its name.
        texts: The same files: their content by their path in the session.
    """

    origin: Origin
    definition: PipelineDefinition
    files: Mapping[str, str]
    texts: Mapping[str, str]

    @property
    def recorded(self) -> PipelineDefinition | None:
        """The pipeline as a state has it: None for that of version 0.1.0."""
        return None if self.definition == FEATURE and not self.files else self.definition


def choose_pipeline(world: World, name: str) -> ChosenPipeline:
    """Find a pipeline, check it, and return it as a new session goes through it.

    Args:
        world: The project, with the settings that are allowed.
        name: As the user or the configuration has it.

    Raises:
        UsageError: There is no such pipeline.
        PipelineError: Its definition is wrong, or this version cannot run it.
    """
    source = world.pipelines.source(name) if is_name(name) else None
    if source is None:
        raise no_pipeline(world, name)
    found = checked(source, world.settings)
    if found.pipeline is None:
        raise PipelineError(source.name, source.path, found.problems)
    definition = resolved(found.pipeline, commands_of(world.settings))
    beside = {**source.prompts, **source.schemas}
    own = {each: beside[each] for each in sorted(source.own)}
    files = {each: sha256(text.encode()).hexdigest() for each, text in own.items()}
    texts = {layout.frozen(files[each]): text for each, text in own.items()}
    return ChosenPipeline(origin=source.origin, definition=definition, files=files, texts=texts)


def no_pipeline(world: World, name: str) -> UsageError:
    """Return the error for a name that no pipeline has."""
    known = tuple(each for each in world.pipelines.names() if is_name(each))
    hints = (*meant(name[:_SHOWN], known), "see them: agentmux pipelines")
    return UsageError(f"no pipeline {shown(name)}", hints=hints)


def checked(source: Source, settings: Settings) -> Checked:
    """Return the pipeline of a definition, or all problems; one is that we cannot run it yet."""
    around = Surroundings(
        roles=frozenset((*ROLES, *settings.own_roles)),
        commands=commands_of(settings),
        variables=frozenset(VARIABLES),
    )
    found = check_source(source, around)
    if found.pipeline is None:
        return found
    try:
        running(resolved(found.pipeline, commands_of(settings)))
    except DataError as error:
        return Checked(pipeline=None, problems=(Problem(line=1, what=error.message),))
    return found


def commands_of(settings: Settings) -> tuple[str, ...]:
    """Return the names of the commands of ``verify``."""
    return tuple(each.name for each in settings.verify)
