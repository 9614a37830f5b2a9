"""JSON Schemas: what breaks one, and what a hostile one can do."""

from __future__ import annotations

import json
import time

import pytest

from agentmux.adapters.yaml.json_schema import PROBLEMS_MAX, schema_problem, violations

SCHEMA = json.dumps(
    {
        "type": "object",
        "required": ["threats"],
        "additionalProperties": False,
        "properties": {
            "threats": {
                "type": "array",
                "items": {"$ref": "#/$defs/threat"},
            }
        },
        "$defs": {"threat": {"type": "object", "properties": {"risk": {"enum": ["low", "high"]}}}},
    }
)


def test_every_broken_rule_is_named_with_its_place() -> None:
    assert schema_problem(SCHEMA) == ""
    assert violations(SCHEMA, {"threats": [{"risk": "low"}]}) == ()
    found = violations(SCHEMA, {"threats": [{"risk": "lo"}, 5], "more": 1})
    assert len(found) == 3
    assert any(each.startswith("threats[0].risk: 'lo' is not one of") for each in found)
    assert len(violations('{"items": {"type": "null"}}', [1] * 1000)) == PROBLEMS_MAX + 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is not JSON"),
        ('{"type": "object", "type": "array"}', "a key appears twice"),
        ("[]", "a schema must be an object"),
        ('{"type": "objekt"}', "it is not a JSON Schema"),
        ('{"items": {"type": 5}}', "items.type"),
        ('{"$ref": "https://example.com/a.json"}', "may only refer to the schema itself"),
        ('{"$ref": "file:///etc/passwd"}', "may only refer to the schema itself"),
        ('{"pattern": "(a+)+$"}', "may take very long"),
        ('{"patternProperties": {"(a|a)*b": {}}}', "may take very long"),
        ('{"not":' * 60 + "{}" + "}" * 60, "nested"),
        ('{"not":' * 50_000 + "{}" + "}" * 50_000, "nested"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_used(text: str, said: str) -> None:
    assert said in schema_problem(text)


@pytest.mark.long
def test_a_schema_cannot_run_forever() -> None:
    double = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    bomb = {"$ref": "#/$defs/d0", "$defs": {**double, "d40": {"type": "object"}}}
    loop = {"$ref": "#"}
    nowhere = {"$ref": "#/$defs/gone"}
    began = time.process_time()
    for schema, said in ((bomb, "too long"), (loop, "without an end"), (nowhere, "cannot be used")):
        text = json.dumps(schema)
        assert schema_problem(text) == ""
        assert said in violations(text, {})[0]
    assert time.process_time() - began < 60


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^a*a*a*a*a*a*a*a*a*b$", "a" * 100),
        ("^" + "a?" * 40 + "a" * 40 + "$", "a" * 40),
        ("^" + "(a|a)" * 30 + "b$", "a" * 30),
    ],
)
def test_a_pattern_without_a_repeated_group_cannot_run_for_ever_either(
    pattern: str, text: str
) -> None:
    by_key = {"patternProperties": {pattern: {}}, "additionalProperties": False}
    for schema, document in (({"pattern": pattern}, text), (by_key, {text: 1})):
        assert schema_problem(json.dumps(schema)) == ""
        began = time.monotonic()
        assert "too long" in violations(json.dumps(schema), document)[0]
        assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\S", "a b\n" * 2_000),
        (r"^https?://[^/?*+|]+/.+$", "https://example.org/" + "a" * 200),
        (r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$", "10.20.30"),
        (r"^[^:]+:[0-9]+(-[0-9]+)?$", "a" * 200 + ".py:12-14"),
    ],
)
def test_usual_patterns_are_matched(pattern: str, text: str) -> None:
    assert violations(json.dumps({"pattern": pattern}), text) == ()
