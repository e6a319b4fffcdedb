"""The JSON form: a round trip for every spec, and a diagnostic for everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shapedsl as sd

SAMPLES = sorted((Path(__file__).parents[2] / "tests/cases/samples").glob("*.shapes"))
TEXT = "def f(x: Tensor[B, 2 * D + 1], n: Scalar[n]):\n    dim B in [0, 8] hint 4\n    where n % 2 == 1 'odd'\n"


def document(text: str = TEXT) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(sd.loads(text)["f"].to_json())
    return loaded


def refusal(changed: Any) -> str:
    with pytest.raises(sd.ShapeError) as caught:
        sd.from_json(changed if isinstance(changed, str) else json.dumps(changed))
    assert caught.value.code == "syntax-error"
    return caught.value.diagnostics[0].message


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_files_and_specs_come_back(path: Path) -> None:
    file = sd.load(path)
    back = sd.from_json(file.to_json())
    assert isinstance(back, sd.SpecFile)
    assert list(back.items()) == list(file.items())
    for spec in file.values():
        assert sd.from_json(spec.to_json()) == spec


def test_what_counts_survives_and_layout_does_not_matter() -> None:
    spec = sd.loads(TEXT)["f"]
    assert sd.from_json(json.dumps(json.loads(spec.to_json()))) == spec
    assert str(sd.from_json(spec.to_json())) == str(spec)


def test_a_parameter_that_text_cannot_spell() -> None:
    def f(β: sd.Tensor[B]) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    spec = sd.spec_of(f)
    assert spec is not None
    assert sd.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", '"format": "shapedsl-ir"'),
        ('{"format": "shapedsl-ir", "version": 2}', "version 2 is not known; this reader knows 1"),
        ('{"format": "shapedsl-ir", "version": 1, "ir": {"node": "Nope"}}', "expected a node"),
    ],
)
def test_other_documents(text: str, message: str) -> None:
    assert message in refusal(text)


def test_a_missing_operand() -> None:
    changed = document()
    dim = changed["ir"]["params"][0]["type"]["dims"][1]
    assert dim["op"] == "+"
    del dim["args"][1]
    assert refusal(changed).endswith("args: `+` takes 2, got 1")


def test_a_number_beyond_int64() -> None:
    changed = document()
    changed["ir"]["variables"][0]["hint"] = 2**63
    assert "beyond int64" in refusal(changed)


@pytest.mark.parametrize("name", ["in", "x y", "", "1", "B; import os"])
def test_a_name_that_is_none(name: str) -> None:
    changed = document()
    changed["ir"]["params"][0]["type"]["dims"][0]["name"] = name
    refusal(changed)


def test_a_variable_without_its_row() -> None:
    changed = document()
    del changed["ir"]["variables"][0]
    assert "no text says what `f` says" in refusal(changed)


def test_a_bool_is_no_number() -> None:
    changed = document()
    changed["ir"]["variables"][0]["hint"] = True
    assert "expected int, got True" in refusal(changed)


def test_an_unknown_parameter_in_a_path() -> None:
    changed = document("def f(ids: int64[B]):\n    values ids in [0, 9]\n")
    changed["ir"]["values"][0]["path"]["root"] = "nope"
    assert "no text says what `f` says" in refusal(changed)
