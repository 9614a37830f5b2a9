"""A `gh` for tests: it keeps its state in the folder ``$FAKE_FORGE`` and talks to no network.

It accepts exactly the words that agentmux/forges.yaml uses, and answers as gh 2.23 does; anything
else is an error, so that a change of the words cannot go unnoticed. tests/real runs the real one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOGGED_OUT = (
    "To get started with GitHub CLI, please run:  gh auth login\n"
    "Alternatively, populate the GH_TOKEN environment variable with a GitHub API authentication"
    " token."
)
_ISSUE = {"number", "title", "body", "url", "comments"}
_REQUEST = {
    "number", "state", "headRefName", "headRefOid", "headRepositoryOwner", "headRepository",
    "baseRefName", "isDraft", "title", "body", "url",
}  # fmt: skip


class RefusedError(Exception):
    """The program fails with this message."""


class Store:
    """The state: ``forge.json`` in the folder, locked for the time of one command."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "forge.json"

    @contextmanager
    def open(self) -> Iterator[dict[str, Any]]:
        with self._path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            state = json.load(file)
            yield state
            file.seek(0)
            file.truncate()
            json.dump(state, file)


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    folder = Path(environ["FAKE_FORGE"])
    with (folder / "calls.jsonl").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(argv) + "\n")
    if (folder / "logged_out").exists():
        sys.stderr.write(f"{LOGGED_OUT}\n")
        return 4
    if environ.get("GH_PROMPT_DISABLED") != "1":
        raise SystemExit("a prompt would wait for ever")
    try:
        with Store(folder).open() as state:
            said = _answer(argv, state)
    except RefusedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if argv[:2] == ["pr", "create"] and (folder / "hang_after_open").exists():
        (folder / "opened").touch()
        time.sleep(600)
    sys.stdout.write(said if isinstance(said, str) else json.dumps(said) + "\n")
    return 0


def _answer(argv: list[str], state: dict[str, Any]) -> object:
    match argv:
        case ["issue", "view", number, *words]:
            return _issue(state, number, _options(words, "--repo", "--json"))
        case ["api", *words]:
            return _permission(state, words)
        case ["pr", "list", *words]:
            return _list(state, _options(words, "--repo", "--head", "--state", "--limit", "--json"))
        case ["pr", "view", number, *words]:
            return _view(state, number, _options(words, "--repo", "--json"))
        case ["pr", "create", *words]:
            return _create(state, words)
        case _:
            raise RefusedError(f"unknown command {argv}")


def _options(words: list[str], *names: str) -> dict[str, str]:
    parser = argparse.ArgumentParser(prog="gh", allow_abbrev=False)
    for name in names:
        parser.add_argument(name, required=True)
    return vars(parser.parse_args(words))


def _repository(state: dict[str, Any], named: str) -> dict[str, Any]:
    repository: dict[str, Any] | None = state["repositories"].get(named)
    if repository is None:
        raise RefusedError("GraphQL: Could not resolve to a Repository with the name. (repository)")
    return repository


def _chosen(found: Mapping[str, Any], wanted: str, known: set[str]) -> dict[str, Any]:
    names = wanted.split(",")
    for name in names:
        if name not in known:
            raise RefusedError(f'Unknown JSON field: "{name}"')
    return {name: found[name] for name in names}


def _issue(state: dict[str, Any], number: str, options: dict[str, str]) -> object:
    found = _repository(state, options["repo"])["issues"].get(number)
    if found is None:
        raise RefusedError(
            "GraphQL: Could not resolve to an issue or pull request with the number of"
            f" {number}. (repository.issue)"
        )
    return _chosen({"number": int(number), "comments": [], **found}, options["json"], _ISSUE)


def _permission(state: dict[str, Any], words: list[str]) -> object:
    parser = argparse.ArgumentParser(prog="gh api", allow_abbrev=False)
    parser.add_argument("--hostname", required=True)
    parser.add_argument("path")
    asked = parser.parse_args(words)
    _, owner, name, _, login, _ = asked.path.split("/")
    known = _repository(state, f"{asked.hostname}/{owner}/{name}")["permissions"]
    if login not in known:
        raise RefusedError(f"gh: {login} is not a user (HTTP 404)")
    return {"permission": known[login], "user": {"login": login}}


def _shown(state: dict[str, Any], request: dict[str, Any], wanted: str) -> dict[str, Any]:
    owner, name = request["source"].split("/")[1:]
    git = _repository(state, request["source"])["git"]
    commit = request.get("commit") or _tip(git, request["branch"])
    found = {
        **request, "headRefName": request["branch"], "headRefOid": commit,
        "baseRefName": request["base"], "isDraft": request["draft"],
        "headRepositoryOwner": {"id": "U_1", "login": owner},
        "headRepository": {"id": "R_1", "name": name},
    }  # fmt: skip
    return _chosen(found, wanted, _REQUEST)


def _tip(git: str, branch: str) -> str:
    argv = ("git", "-C", git, "rev-parse", "--verify", "-q", f"refs/heads/{branch}")
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def _list(state: dict[str, Any], options: dict[str, str]) -> object:
    _repository(state, options["repo"])
    return [
        _shown(state, each, options["json"])
        for each in state["requests"]
        if each["repo"] == options["repo"]
        and each["branch"] == options["head"]
        and each["state"] == options["state"].upper()
    ]


def _view(state: dict[str, Any], number: str, options: dict[str, str]) -> object:
    for each in state["requests"]:
        if (each["repo"], str(each["number"])) == (options["repo"], number):
            return _shown(state, each, options["json"])
    raise RefusedError(f"GraphQL: Could not resolve to a PullRequest with the number of {number}.")


def _create(state: dict[str, Any], words: list[str]) -> str:
    draft = "--draft" in words
    words = [word for word in words if word != "--draft"]
    asked = _options(words, "--repo", "--base", "--head", "--title", "--body-file")
    host, owner, name = asked["repo"].split("/")
    _repository(state, asked["repo"])
    other, _, branch = asked["head"].rpartition(":")
    source = f"{host}/{other or owner}/{name}"
    if not _tip(_repository(state, source)["git"], branch):
        raise RefusedError("pull request create failed: GraphQL: Head sha can't be blank")
    for each in state["requests"]:
        same = (each["repo"], each["source"], each["branch"], each["base"], each["state"])
        if same == (asked["repo"], source, branch, asked["base"], "OPEN"):
            raise RefusedError(
                f'a pull request for branch "{branch}" into branch "{asked["base"]}" already'
                f" exists:\n{each['url']}"
            )
    number = 100 + len(state["requests"])
    url = f"https://{host}/{owner}/{name}/pull/{number}"
    state["requests"].append(
        {
            "number": number, "url": url, "repo": asked["repo"], "source": source, "state": "OPEN",
            "branch": branch, "base": asked["base"], "title": asked["title"], "draft": draft,
            "body": sys.stdin.read(),
        }
    )  # fmt: skip
    return f"{url}\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ))
