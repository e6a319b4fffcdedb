"""The formats that other programs read."""

from __future__ import annotations

import json
from typing import Any

from shapedsl.diagnostics import Edit, Fix, Report, Source
from shapedsl.diagnostics.render import concise, github, sarif
from shapedsl.diagnostics.render import json as json_format

SOURCE = Source("dir,a/net:1.shapes", "let S = B / 2\ndef f(x: Tensor[B,\n  S]): ...\n")


def report() -> Report:
    result = Report()
    result.error(
        "true-division",
        "`/` divides to a float\nin Python",
        at=SOURCE.span(10, 11),
        label="here",
        also=[(SOURCE.span(4, 5), "S")],
        note="100% sure",
        help="floor",
        fix=Fix("write `//`", (Edit(SOURCE.span(10, 11), "//"),), safe=True),
        witness=[("B", 3)],
    )
    result.warning("undecided", "no place")
    result.error("rank-mismatch", "two lines", at=SOURCE.span(23, 35))
    return result


def test_concise() -> None:
    assert concise.render(report()) == (
        "dir,a/net:1.shapes:1:11: error[true-division] `/` divides to a float in Python\n"
        "warning[undecided] no place\n"
        "dir,a/net:1.shapes:2:10: error[rank-mismatch] two lines"
    )


def test_json_says_everything() -> None:
    document = json.loads(json_format.render(report()))
    first, second, _ = document["diagnostics"]
    place = {"file": "dir,a/net:1.shapes", "line": 1, "end_line": 1}
    main = {**place, "start": 10, "end": 11, "column": 11, "end_column": 12}
    assert document["version"] == 1
    assert first == {
        "code": "true-division",
        "severity": "error",
        "message": "`/` divides to a float\nin Python",
        "spans": [
            {**main, "label": "here", "main": True},
            {**place, "start": 4, "end": 5, "column": 5, "end_column": 6, "label": "S", "main": False},
        ],
        "notes": ["100% sure"],
        "helps": ["floor"],
        "fix": {"description": "write `//`", "safe": True, "edits": [{**main, "replacement": "//"}]},
        "core": [],
        "witness": {"B": 3},
    }
    assert (second["spans"], second["fix"]) == ([], None)


def test_github_escapes_data_and_properties() -> None:
    first, second, third = github.render(report()).splitlines()
    assert first == (
        "::error file=dir%2Ca/net%3A1.shapes,line=1,endLine=1,title=shapedsl true-division,col=11,endColumn=12"
        "::`/` divides to a float%0Ain Python%0Awitness: B = 3%0Anote: 100%25 sure%0Ahelp: floor%0Ahelp: write `//`"
    )
    assert second == "::warning title=shapedsl undecided::no place"
    assert "col=" not in third
    assert "line=2,endLine=3" in third


def test_sarif_has_rules_places_and_fixes() -> None:
    log: Any = json.loads(sarif.render(report()))
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["rank-mismatch", "true-division", "undecided"]
    first, second, third = run["results"]
    region = {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 12}
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("true-division", 1, "error")
    physical = first["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": "dir%2Ca/net%3A1.shapes"}, "region": region}
    assert first["relatedLocations"][0]["message"] == {"text": "S"}
    change = first["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert change == {"deletedRegion": region, "insertedContent": {"text": "//"}}
    assert "locations" not in second
    assert second["level"] == "warning"
    assert third["locations"][0]["physicalLocation"]["region"]["endLine"] == 3


def test_no_findings() -> None:
    assert json.loads(json_format.render([])) == {"version": 1, "diagnostics": []}
    assert github.render([]) == concise.render([]) == ""
    assert json.loads(sarif.render([]))["runs"][0]["results"] == []
