"""A forge for the real `gh`: the parts of GitHub's interface that `agentmux/forges.yaml` uses.

It answers gh's GraphQL queries by the names that gh gives them, and one path of the REST interface.
It has one repository, ``o/r``, and checks the token.

Source: what gh 2.23 sends, seen here; https://docs.github.com/graphql and /rest.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

from agentmux.overriding import override

TOKEN: Final = "a-token-of-this-test"
_NAME: Final = re.compile(r"\b(?:query|mutation) (\w+)")
_COLLABORATOR: Final = re.compile(r"/api/v3/repos/o/r/collaborators/([^/]+)/permission")

Json = dict[str, Any]


class ForgeServer:
    """The forge, on port 443 of 127.0.0.1, where only this network namespace can reach it.

    Attributes:
        issues: Title, body and comments (author, text) of each issue.
        permissions: What each user may do.
        requests: The pull requests, as gh asks for them, with their body.
        tips: The commit of each branch.
        unknown: What gh asked for and the forge does not know.
    """

    host: ClassVar[str] = "127.0.0.1"

    def __init__(self, certificate: Path, key: Path) -> None:
        self.issues: dict[int, tuple[str, str, list[tuple[str, str]]]] = {}
        self.permissions: dict[str, str] = {}
        self.requests: list[Json] = []
        self.tips: dict[str, str] = {}
        self.unknown: list[str] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        handler = type("Handler", (_Handler,), {"forge": self})
        self._server = ThreadingHTTPServer((self.host, 443), handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def permission(self, path: str) -> tuple[int, Json]:
        """Answer what a user may do in the repository."""
        found = _COLLABORATOR.fullmatch(path)
        if found is None:
            self.unknown.append(path)
            return 404, {"message": "Not Found"}
        if found[1] not in self.permissions:
            return 404, {"message": f"{found[1]} is not a user"}
        return 200, {"permission": self.permissions[found[1]], "user": {"login": found[1]}}

    def query(self, text: str, given: Json) -> Json:
        """Answer a GraphQL query; ``given`` are its variables."""
        found = _NAME.search(text)
        name = found[1] if found else text[:80]
        answers = {
            "IssueByNumber": self._issue,
            "CommentsForIssue": self._comments,
            "PullRequestList": self._list,
            "PullRequestByNumber": self._look,
            "PullRequestForBranch": self._of_branch,
            "RepositoryInfo": self._repository,
            "PullRequestCreate": self._create,
        }
        if name not in answers:
            self.unknown.append(text)
            return {"errors": [{"message": f"unknown query {name}"}]}
        return answers[name](given)

    def _issue(self, given: Json) -> Json:
        found = self.issues.get(given["number"])
        if found is None:
            words = "Could not resolve to an issue or pull request with the number of"
            message = f"{words} {given['number']}."
            error = {"type": "NOT_FOUND", "path": ["repository", "issue"], "message": message}
            return {**_in_repository(hasIssuesEnabled=True, issue=None), "errors": [error]}
        title, body, _ = found
        issue = {"__typename": "Issue", "id": str(given["number"]), "title": title, "body": body}
        return _in_repository(hasIssuesEnabled=True, issue=issue)

    def _comments(self, given: Json) -> Json:
        nodes = [
            {"id": f"C{n}", "author": {"login": who}, "authorAssociation": "MEMBER", "body": said,
             "isMinimized": False}
            for n, (who, said) in enumerate(self.issues[int(given["id"])][2])
        ]  # fmt: skip
        return {"data": {"node": {"comments": _listed(nodes)}}}

    def _list(self, given: Json) -> Json:
        found = [
            self._shown(each)
            for each in self.requests
            if each["headRefName"] == given["headBranch"] and each["state"] in given["state"]
        ]
        return _in_repository(pullRequests=_listed(found))

    def _of_branch(self, given: Json) -> Json:
        found = [each for each in self.requests if each["headRefName"] == given["headRefName"]]
        return _in_repository(pullRequests=_listed(found), defaultBranchRef={"name": "main"})

    def _look(self, given: Json) -> Json:
        (found,) = (each for each in self.requests if each["number"] == given["pr_number"])
        return _in_repository(pullRequest=self._shown(found))

    def _shown(self, request: Json) -> Json:
        return {"headRefOid": self.tips.get(request["headRefName"], ""), **request}

    def _repository(self, given: Json) -> Json:
        return _in_repository(
            id="R", name="r", owner={"login": "o"}, viewerPermission="WRITE", hasIssuesEnabled=True,
            defaultBranchRef={"name": "main"}, parent=None,
        )  # fmt: skip

    def _create(self, given: Json) -> Json:
        asked = given["input"]
        number = 100 + len(self.requests)
        owner, _, branch = asked["headRefName"].rpartition(":")
        self.requests.append(
            {
                "number": number, "state": "OPEN", "headRefName": branch,
                "baseRefName": asked["baseRefName"], "title": asked["title"],
                "body": asked["body"], "isDraft": asked["draft"],
                "headRepositoryOwner": {"id": "U", "login": owner or "o"},
                "headRepository": {"id": "R", "name": "r"},
            }
        )  # fmt: skip
        made = {"id": f"P{number}", "url": f"https://{self.host}/o/r/pull/{number}"}
        return {"data": {"createPullRequest": {"pullRequest": made}}}


def _listed(nodes: list[Json]) -> Json:
    return {"nodes": nodes, "totalCount": len(nodes), "pageInfo": {"hasNextPage": False}}


def _in_repository(**found: object) -> Json:
    return {"data": {"repository": found}}


class _Handler(BaseHTTPRequestHandler):
    forge: ForgeServer

    def do_GET(self) -> None:
        if self._is_logged_in():
            self._answer(*self.forge.permission(self.path))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self._is_logged_in():
            self._answer(200, self.forge.query(body["query"], body["variables"]))

    def _is_logged_in(self) -> bool:
        if self.headers.get("authorization") == f"token {TOKEN}":
            return True
        self._answer(401, {"message": "Bad credentials"})
        return False

    def _answer(self, status: int, answer: Json) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @override
    def log_message(self, *_: object) -> None:
        """Say nothing."""
