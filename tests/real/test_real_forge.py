"""The real `gh` against a forge of ours: the words and the places of `agentmux/forges.yaml`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.config.forge_registry import load_forges
from agentmux.adapters.forge.command_line import ForgeCommandLine
from agentmux.core.forges.spec import RepoRef
from agentmux.ports.forge import ForgeError, IssueComment, NewRequest
from tests.real.conftest import FOUND
from tests.real.forge_server import TOKEN, ForgeServer

HOST = ForgeServer.host
PLACE = RepoRef(forge="ours", host=HOST, repo="o/r")
FORK = RepoRef(forge="ours", host=HOST, repo="me/r")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[ForgeServer]:
    found = FOUND.get("gh", {"missing": "it was not looked for"})
    if "missing" in found:
        pytest.skip(f"gh: {found['missing']}")
    certificate, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    make = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    names = ("-subj", "/CN=test", "-addext", f"subjectAltName=IP:{HOST}")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run((*make, *names, *files), check=True, capture_output=True)
    server = ForgeServer(certificate, key)
    yield server
    server.close()
    assert server.unknown == []


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    config = tmp_path / "config" / "agentmux"
    config.mkdir(parents=True)
    (config / "forges.yaml").write_text(f"ours: {{like: github, hosts: [{HOST}]}}\n")
    program = Path(FOUND.get("gh", {}).get("program", "/"))
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "TMUX_TMPDIR": str(tmp_path),
        "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
        "GH_HOST": HOST,
        "GH_ENTERPRISE_TOKEN": TOKEN,
    }


@pytest.fixture
def gh(environ: dict[str, str], tmp_path: Path) -> ForgeCommandLine:
    config = Path(environ["XDG_CONFIG_HOME"]) / "agentmux"
    return ForgeCommandLine(lambda: load_forges(config), environ, tmp_path)


def test_an_issue_and_the_comments_of_those_who_may_write(
    forge: ForgeServer, gh: ForgeCommandLine
) -> None:
    forge.issues[42] = ("Title", "A\r\nbody", [("ann", "yes"), ("eve", "no"), ("gone", "no")])
    forge.permissions = {"ann": "write", "eve": "read"}
    found = gh.issue(PLACE, 42, comments=True)
    assert (found.title, found.body) == ("Title", "A\r\nbody")
    assert found.comments == (IssueComment(author="ann", text="yes"),)
    assert found.left_out == 2
    with pytest.raises(ForgeError, match="Could not resolve to an issue"):
        gh.issue(PLACE, 43, comments=False)


@pytest.mark.parametrize("source", [PLACE, FORK], ids=["own", "fork"])
def test_a_request_is_opened_found_and_looked_at(
    forge: ForgeServer, gh: ForgeCommandLine, source: RepoRef
) -> None:
    forge.tips["agentmux/x"] = "c" * 40
    new = NewRequest(
        place=PLACE, source=source, branch="agentmux/x", base="main", title="-t",
        body="One\n\nCloses #42\n", is_draft=True,
    )  # fmt: skip
    assert gh.requests(PLACE, "agentmux/x") == ()
    assert gh.open(new).strip() == f"https://{HOST}/o/r/pull/100"
    (made,) = forge.requests
    assert (made["title"], made["body"], made["isDraft"]) == ("-t", "One\n\nCloses #42\n", True)
    (found,) = gh.requests(PLACE, "agentmux/x")
    assert (found.number, found.commit, found.base) == (100, "c" * 40, "main")
    assert (found.is_open, found.source) == (True, gh.identity(source))
    assert gh.request(PLACE, 100) == found
    made["state"] = "MERGED"
    assert gh.requests(PLACE, "agentmux/x") == ()
    merged = gh.request(PLACE, 100)
    assert (merged.is_open, merged.is_merged) == (False, True)


def test_without_a_login_and_with_a_wrong_one(
    forge: ForgeServer, environ: dict[str, str], tmp_path: Path
) -> None:
    config = Path(environ["XDG_CONFIG_HOME"]) / "agentmux"

    def asked(environment: dict[str, str]) -> None:
        cli = ForgeCommandLine(lambda: load_forges(config), environment, tmp_path)
        cli.issue(PLACE, 42, comments=False)

    with pytest.raises(ForgeError, match="Bad credentials"):
        asked({**environ, "GH_ENTERPRISE_TOKEN": "wrong"})
    without = {name: value for name, value in environ.items() if "TOKEN" not in name}
    with pytest.raises(ForgeError, match="gh auth login"):
        asked(without)


def test_start_reads_an_issue_through_the_real_program(
    forge: ForgeServer, environ: dict[str, str], tmp_path: Path
) -> None:
    forge.issues[42] = ("Add a greeting", "Please.", [])
    project = tmp_path / "project"
    project.mkdir()

    def run(*argv: str) -> str:
        done = subprocess.run(
            argv, cwd=project, env=environ, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("git", "init", "-q")
    run("git", "config", "user.name", "A")
    run("git", "config", "user.email", "a@example.org")
    run("git", "remote", "add", "origin", f"https://{HOST}/o/r.git")
    words = ("start", "--agent", "demo", "--issue", "42", "--dry-run", "--json")
    answer = json.loads(run(sys.executable, "-m", "agentmux", *words))
    assert answer["issue"] == {
        "url": f"https://{HOST}/o/r/issues/42", "number": 42, "title": "Add a greeting"
    }  # fmt: skip
    assert answer["session"].endswith("-add-a-greeting")
