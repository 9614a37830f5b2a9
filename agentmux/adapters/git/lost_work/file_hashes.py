"""The object ids that git would give to files of a work tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agentmux.adapters.git.program import GitProgram, decode_output, encode_text


def file_hashes(git: GitProgram, paths: Collection[str]) -> Mapping[str, str]:
    """Return the git object id of each file, by its path, with git's filters for that path applied.

    Args:
        git: Runs git at the top of the work tree.
        paths: Regular files that can be read, relative to that top.

    Raises:
        GitError: Git cannot read one of the files.
    """
    # The list on stdin has one path per line, and git unquotes a line that begins with a quote. So
    # these paths need a command each.
    odd = [path for path in paths if "\n" in path or path.startswith('"')]
    rest = [path for path in paths if path not in odd]
    hashes = dict[str, str]()
    if rest:
        stdin = encode_text("".join(f"{path}\n" for path in rest))
        reply = git.must_read("read files", "hash-object", "--stdin-paths", stdin=stdin)
        hashes = dict(zip(rest, decode_output(reply.out).split(), strict=True))
    for path in odd:
        reply = git.must_read("read a file", "hash-object", "--", path)
        hashes[path] = reply.text
    return hashes
