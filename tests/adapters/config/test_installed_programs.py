"""The programs that are installed here."""

from pathlib import Path

import pytest

from agentmux.adapters.config.installed_programs import InstalledPrograms


@pytest.fixture
def programs(tmp_path: Path) -> InstalledPrograms:
    program = tmp_path / "bin" / "robot"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return InstalledPrograms(
        path=str(program.parent), shell="/bin/sh", cache_dir=tmp_path / "cache"
    )


def test_a_command_is_found_on_this_path_alone(programs: InstalledPrograms) -> None:
    assert programs.find("robot") == Path(programs.path) / "robot"
    assert programs.find("sh") is None


def test_another_program_under_the_same_path_is_another_one(programs: InstalledPrograms) -> None:
    robot = Path(programs.path) / "robot"
    before = programs.identity(str(robot))
    assert before.startswith(f"{robot}:")
    robot.write_text("#!/bin/sh\nexit 1\n")
    assert programs.identity(str(robot)) != before
    robot.unlink()
    assert programs.identity(str(robot)) == ""


def test_nothing_is_at_an_empty_path(programs: InstalledPrograms) -> None:
    assert programs.exists(programs.path)
    assert not programs.exists("")
