"""Which repositories a host may run."""

import pytest

from agentmux.core.fleet.repositories import clone_name, is_allowed, is_url, require_repository
from agentmux.errors import UsageError


@pytest.mark.parametrize(
    "text",
    [
        "/work/repo",
        "https://example.org/o/r.git",
        "ssh://git@example.org:22/o/r",
        "git@example.org:o/r.git",
        "example.org:o/r.git",
        "box:/srv/r.git",
        "file:///srv/git/r.git",
        "http://[::1]:8080/o/r",
        "codecommit://me@repo/x",
    ],
)
def test_paths_and_urls_name_repositories(text: str) -> None:
    assert require_repository(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "repo",
        "/work/../etc",
        "/work//repo",
        "/work/repo/",
        "https://example.org/o/../r",
        "ext::sh -c x",
        "file:///srv/../etc",
        "file://host",
        "ssh://-oProxyCommand=x/y",
        "-oProxyCommand=x:y",
        "git@-oProxyCommand:y",
        "https:///o/r",
        "--upload-pack=x",
        "https://-oProxyCommand=x/",
        "/a\nb",
        "/" + "x" * 2000,
    ],
)
def test_nothing_else_names_one(text: str) -> None:
    with pytest.raises(UsageError):
        require_repository(text)


def test_a_password_is_refused_and_not_quoted() -> None:
    with pytest.raises(UsageError) as caught:
        require_repository("https://me:secret@example.org/o/r")
    assert "secret" not in caught.value.message


def test_a_star_stands_for_anything_but_a_slash() -> None:
    allowed = ["/work/*", "https://example.org/team/*", "/home/me/one/"]
    assert is_allowed("/work/a", allowed)
    assert is_allowed("/home/me/one", allowed)
    assert is_allowed("https://example.org/team/a.git", allowed)
    assert not is_allowed("/work/a/b", allowed)
    assert not is_allowed("/work", allowed)
    assert not is_allowed("https://example.org/other/a", allowed)
    assert not is_allowed("/home/me/one-more", allowed)
    assert not is_allowed("/work/a", [])


def test_a_clone_has_a_name_of_its_own() -> None:
    one, other = clone_name("https://a.org/o/r.git"), clone_name("https://b.org/o/r.git")
    assert one != other
    assert one.startswith("r-")
    assert is_url("https://a.org/o/r.git")


@pytest.mark.parametrize(
    ("text", "means_url"),
    [
        ("file:///srv/r", True),
        ("file:///srv/../r", True),  # and not sound
        ("box:r", True),
        ("/o/r", False),
        ("./a:b", False),
        ("a/b:c", False),
        ("repo", False),
        ("ext::sh -c x", False),
        ("", False),
    ],
)
def test_a_scheme_or_a_host_makes_a_url(text: str, means_url: bool) -> None:
    assert is_url(text) == means_url
