import pytest

from agentmux.adapters.config.forge_registry import load_forges
from agentmux.core.forges.remote_urls import (
    ForgeRemote,
    Remote,
    forge_remotes,
    host_and_path,
    main_remote,
    repository_of,
)
from agentmux.core.forges.spec import RepoRef, read_url

SPECS = load_forges(None)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://github.com/o/r.git", ("github", "github.com", "o/r")),
        ("https://user:secret@GitHub.com/o/r/", ("github", "github.com", "o/r")),
        ("git@github.com:o/r.git", ("github", "github.com", "o/r")),
        ("ssh://git@ssh.github.com:443/o/r.git", ("github", "github.com", "o/r")),
        ("git@gitlab.com:group/sub/r.git", ("gitlab", "gitlab.com", "group/sub/r")),
        ("https://gitlab.com/group/sub/r", ("gitlab", "gitlab.com", "group/sub/r")),
        ("https://github.com/o/r/more", None),
        ("https://github.com/o", None),
        ("https://github.com.example.org/o/r", None),
        ("https://github.com:8443/o/r", None),
        ("/srv/git/github.com/o/r.git", None),
        ("../r.git", None),
        ("file:///srv/github.com/o/r", None),
        ("git@github.com:--flag/r", None),
    ],
)
def test_which_forge_a_remote_is_on(url: str, found: tuple[str, str, str] | None) -> None:
    place = repository_of(SPECS, (url,))
    assert (place and (place.forge, place.host, place.repo)) == found


def test_the_port_of_a_web_server_belongs_to_the_host() -> None:
    assert host_and_path("https://h:8443/o/r.git") == ("h:8443", "o/r")
    assert host_and_path("ssh://git@h:2222/o/r.git") == ("h", "o/r")


def remotes(**urls: str) -> tuple[ForgeRemote, ...]:
    return forge_remotes(SPECS, [Remote(name=name, urls=(url,)) for name, url in urls.items()])


@pytest.mark.parametrize(
    ("urls", "chosen"),
    [
        ({}, None),
        ({"backup": "/srv/x.git"}, None),
        ({"mine": "git@github.com:o/r"}, "mine"),
        ({"origin": "git@github.com:me/r", "upstream": "git@github.com:o/r"}, "upstream"),
        ({"a": "git@github.com:o/r", "origin": "git@github.com:me/r"}, "origin"),
        ({"a": "git@github.com:o/r", "b": "git@github.com:me/r"}, None),
        ({"a": "git@github.com:o/r", "b": "https://github.com/O/R.git"}, "a"),
    ],
)
def test_which_remote_has_the_issues(urls: dict[str, str], chosen: str | None) -> None:
    found = main_remote(remotes(**urls))
    assert (found and found.remote) == chosen


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://github.com/o/r/issues/42", 42),
        ("https://github.com/o/r/issues/42#issuecomment-1", 42),
        ("https://github.com/o/r/issues/42/", 42),
        ("https://github.com/o/r/issues/042", None),
        ("https://github.com/o/r/issues/42x", None),
        ("https://github.com/o/r/pull/42", None),
        ("https://example.org/o/r/issues/42", None),
        ("https://github.com/o/r/issues/42\nx", None),
    ],
)
def test_the_url_of_an_issue(url: str, number: int | None) -> None:
    found = read_url(SPECS["github"], SPECS["github"].issue_url, url)
    expected = number and (RepoRef(forge="github", host="github.com", repo="o/r"), number)
    assert found == expected


def test_the_url_of_an_issue_in_a_group() -> None:
    spec = SPECS["gitlab"]
    found = read_url(spec, spec.issue_url, "https://gitlab.com/a/b/c/-/issues/7")
    assert found == (RepoRef(forge="gitlab", host="gitlab.com", repo="a/b/c"), 7)
