"""One watch over many directories tells what changes directly in them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentmux.adapters.wake.flat_watch import FlatWatch

WaitUntil = Callable[..., None]


@contextmanager
def watching(seen: set[Path]) -> Iterator[FlatWatch]:
    watch = FlatWatch(seen.update, step_ms=20)
    try:
        yield watch
    finally:
        watch.close()


def touched(path: Path, seen: set[Path]) -> Callable[[], bool]:
    """Return a condition that changes a file until the change was told."""

    def told() -> bool:
        path.write_text(path.name)
        return path in seen

    return told


def test_changes_are_told_of_each_directory_but_not_below(
    tmp_path: Path, wait_until: WaitUntil
) -> None:
    seen: set[Path] = set()
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "deep").mkdir(parents=True)
    two.mkdir()
    with watching(seen) as watch:
        assert watch.watch([one, two]) == {one, two}
        wait_until(touched(one / "a", seen))
        (one / "deep" / "hidden").write_text("x")
        wait_until(touched(two / "b", seen))
    assert one / "deep" / "hidden" not in seen


def test_the_set_may_change_and_may_have_what_is_gone(
    tmp_path: Path, wait_until: WaitUntil
) -> None:
    seen: set[Path] = set()
    one, two = tmp_path / "one", tmp_path / "two"
    for each in (one, two):
        each.mkdir()
    with watching(seen) as watch:
        watch.watch([one])
        wait_until(touched(one / "a", seen))
        assert watch.watch([two, tmp_path / "missing"]) == {two, tmp_path / "missing"}
        wait_until(touched(two / "b", seen))
        seen.clear()
        (one / "a").write_text("again")
        wait_until(touched(two / "c", seen))
        assert one / "a" not in seen
