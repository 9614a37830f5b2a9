"""The traces of sessions whose directories are gone."""

from pathlib import Path

from agentmux.adapters.disk.session.session_traces import TraceFolder
from agentmux.core.decisions.session_trace import SessionTrace


def trace(path: Path, session: str = "one") -> SessionTrace:
    return SessionTrace(session=session, path=str(path), feature="add \udcff", phase="planning")


def test_a_trace_comes_back_while_its_directory_is_gone(tmp_path: Path) -> None:
    traces, home = TraceFolder(tmp_path / "state" / "sessions"), tmp_path / ".sessions"
    there, gone = home / "20260101-101500-x", home / "20260101-101500-y"
    there.mkdir(parents=True)
    kept, other = trace(gone, "two"), trace(tmp_path / "other" / "z", "three")
    for each in (trace(there), kept, other):
        traces.keep(each)
    assert traces.missing() == (kept, other)
    traces.forget("two", there)  # a copy of it
    assert traces.missing() == (kept, other)
    traces.forget("two", gone)
    assert traces.missing() == (other,)


def test_what_is_damaged_is_left_out(tmp_path: Path) -> None:
    traces = TraceFolder(tmp_path)
    assert traces.missing() == ()
    for name, text in (("a", ""), ("b", "{"), ("c", "[]"), ("d", '{"session": 1}')):
        (tmp_path / f"{name}.json").write_text(text)
    assert traces.missing() == ()
    traces.forget("a", tmp_path)
    assert (tmp_path / "a.json").exists()


def test_a_session_cannot_name_another_file(tmp_path: Path) -> None:
    TraceFolder(tmp_path / "in").keep(trace(tmp_path / "x", "../../out"))
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["out.json"]
