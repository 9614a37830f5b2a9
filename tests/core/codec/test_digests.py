"""Uuids and digests are the same as those of the standard library."""

from __future__ import annotations

import hashlib
import uuid

import pytest

from agentmux.core.codec.digests import named_uuid, random_uuid, sha256

SOME = "0b9c1c9e-5c3b-4d53-9d55-0f6f1a3b7c21"


@pytest.mark.parametrize(
    "namespace", [SOME, SOME.upper(), SOME.replace("-", ""), f"{{{SOME}}}", f"urn:uuid:{SOME}"]
)
@pytest.mark.parametrize("name", ["", "a-launch\nsubmit_done\n1\n", "ü\n\0"])
def test_a_named_uuid_is_the_standard_one(namespace: str, name: str) -> None:
    assert named_uuid(namespace, name) == str(uuid.uuid5(uuid.UUID(namespace), name))


@pytest.mark.parametrize("text", ["", "s", SOME[:-1], "g" * 32, SOME + "0", "-" * 32])
def test_what_is_no_uuid_names_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"badly formed|invalid literal"):
        uuid.UUID(text)
    namespace = uuid.uuid5(uuid.NAMESPACE_OID, text)
    assert named_uuid(text, "n") == str(uuid.uuid5(namespace, "n"))


@pytest.mark.parametrize("noise", [bytes(16), b"\xff" * 16, bytes(range(16))])
def test_a_random_uuid_is_the_standard_one(noise: bytes) -> None:
    assert random_uuid(noise) == str(uuid.UUID(bytes=noise, version=4))


def test_a_digest_is_the_standard_one() -> None:
    data = "architecture ü".encode() * 999
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
