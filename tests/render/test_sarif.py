"""SARIF logs, held to what the schema of SARIF 2.1.0 demands of the objects that are written.

The schema allows no property that it does not name; what it demands is listed here by hand, from
https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shapedsl.diagnostics import CODES, Edit, Fix, Report, Source
from shapedsl.diagnostics.render import sarif

from ..cli.helpers import run

# object -> the properties that it must have, and those that it may have with what is inside them: the
# name of an object, a list with it (a set: without equal members), or what the value must be.
_TEXT, _POSITIVE, _LEVEL = str, int, ("none", "note", "warning", "error")
_OBJECTS: dict[str, tuple[set[str], dict[str, Any]]] = {
    "log": ({"version", "runs"}, {"$schema": _TEXT, "version": ("2.1.0",), "runs": ["run"]}),
    "run": ({"tool"}, {"tool": "tool", "columnKind": ("utf16CodeUnits", "unicodeCodePoints"), "results": ["result"]}),
    "tool": ({"driver"}, {"driver": "component"}),
    "component": ({"name"}, {"name": _TEXT, "version": _TEXT, "rules": {"rule"}}),
    "rule": (
        {"id"},
        {"id": _TEXT, "shortDescription": "page", "help": "page", "defaultConfiguration": "configuration"},
    ),
    "page": ({"text"}, {"text": _TEXT, "markdown": _TEXT}),
    "configuration": (set(), {"level": _LEVEL}),
    "result": (
        {"message"},
        {
            "ruleId": _TEXT,
            "ruleIndex": int,
            "level": _LEVEL,
            "message": "message",
            "locations": ["location"],
            "relatedLocations": {"location"},
            "fixes": {"fix"},
            "properties": dict,
        },
    ),
    "message": ({"text"}, {"text": _TEXT}),
    "location": (set(), {"physicalLocation": "place", "message": "message"}),
    "place": ({"artifactLocation"}, {"artifactLocation": "artifact", "region": "region"}),
    "artifact": (set(), {"uri": _TEXT}),
    "region": (set(), dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), _POSITIVE)),
    "fix": ({"artifactChanges"}, {"description": "message", "artifactChanges": {"change"}}),
    "change": ({"artifactLocation", "replacements"}, {"artifactLocation": "artifact", "replacements": ["replacement"]}),
    "replacement": ({"deletedRegion"}, {"deletedRegion": "region", "insertedContent": "message"}),
}


def faults(value: Any, kind: Any, place: str = "log") -> list[str]:
    """Returns what is wrong with a part of a log."""
    if isinstance(kind, str):
        required, allowed = _OBJECTS[kind]
        found = [f"{place} lacks {name}" for name in required - value.keys()]
        found += [f"{place} may not have {name}" for name in value.keys() - allowed.keys()]
        for name in value.keys() & allowed.keys():
            found += faults(value[name], allowed[name], f"{place}.{name}")
        return found
    if isinstance(kind, (list, set)):
        [inner] = kind
        found = [fault for at, each in enumerate(value) for fault in faults(each, inner, f"{place}[{at}]")]
        distinct = {json.dumps(each, sort_keys=True) for each in value}
        return [*found, *([f"{place} repeats itself"] if isinstance(kind, set) and len(distinct) < len(value) else [])]
    if isinstance(kind, tuple):
        return [] if value in kind else [f"{place} is {value!r}"]
    return [] if isinstance(value, kind) and (kind is not int or value >= 0) else [f"{place} is {value!r}"]


def test_the_checker_finds_faults() -> None:
    assert sorted(faults({"version": "2", "runs": [{"x": 1}]}, "log")) == [
        "log.runs[0] lacks tool",
        "log.runs[0] may not have x",
        "log.version is '2'",
    ]
    assert faults([{"text": "a"}, {"text": "a"}], {"page"}) == ["log repeats itself"]


SOURCE = Source("dir/net.shapes", "dim B in [2, 64]\ndef f(x: Tensor[B]):\n    where B >= 100\n")


def everything() -> Report:
    report = Report()
    declared, where = SOURCE.span(9, 16), SOURCE.span(48, 56)
    report.error(
        "contradiction",
        "no shape satisfies this spec",
        at=where,
        label="needs B >= 100",
        also=[(declared, "so B <= 64"), (declared, "so B <= 64"), (declared, "")],
        note="a note",
        help="a help",
        fix=Fix("delete it", (Edit(where, ""), Edit(SOURCE.span(0, 0), "# \U0001f600\n"))),
        core=["B <= 64", "B >= 100"],
        core_of=3,
        witness=[("B", 2)],
    )
    report.warning("undecided", "no place")
    report.warning("contradiction", "a warning of the same code")
    return report


def test_a_log_is_as_the_schema_wants_it() -> None:
    for log in (
        sarif.render(everything()),
        sarif.render(everything(), page=str.upper, version="1.2"),
        sarif.render([]),
    ):
        assert faults(json.loads(log), "log") == []


def test_core_witness_and_fix_are_in_it() -> None:
    run_ = json.loads(sarif.render(everything()))["runs"][0]
    first, second, third = run_["results"]
    assert first["properties"] == {"core": ["B <= 64", "B >= 100"], "witness": {"B": 2}, "safeFix": False}
    assert [place["message"]["text"] for place in first["relatedLocations"][:1]] == ["so B <= 64"]
    assert len(first["relatedLocations"]) == 2  # no location twice
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 3, "startColumn": 11, "endLine": 3, "endColumn": 19},
            "insertedContent": {"text": ""},
        },
        {
            "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
            "insertedContent": {"text": "# \U0001f600\n"},
        },
    ]
    assert "properties" not in second
    assert (second["level"], third["level"]) == ("warning", "warning")


def test_rules_have_a_level_and_a_page() -> None:
    log = json.loads(sarif.render(everything(), page=lambda code: f"# {code}"))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["defaultConfiguration"]["level"]) for rule in rules] == [
        ("contradiction", "error"),
        ("undecided", "warning"),
    ]
    assert rules[0]["help"] == {"text": "# contradiction", "markdown": "# contradiction"}
    assert rules[0]["shortDescription"] == {"text": CODES["contradiction"]}


@pytest.mark.parametrize(
    "text",
    [
        "dim B in [2, 64]\ndef f(x: Tensor[B]):\n    where B >= 100\n",
        "def f(x: Tensor[B / 2]): ...\n",
        "def f(x: Tensor[batch], y: Tensor[batch], z: Tensor[btach]): ...\n",
        "def f(x: Tensor[B]): ...\n",
        "def f(x: Tensor[B]\n",
        "\0",
    ],
)
def test_check_writes_logs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a file,é.shapes"
    file.write_text(text)
    result = run("check", "--format", "sarif", file)
    log = json.loads(result.output)
    assert faults(log, "log") == []
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}\n")
