"""Random programs → converted, run: each call is given the spec that its site promises; nothing else is lost."""

from __future__ import annotations

import contextlib
import io
import tokenize
import warnings
from typing import Any, Literal

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source import convert_source

from .random_programs import program

SEEDS = range(25)
# Sizes of `x` and `y` in turn: multiples, successors, bounds.
SIZES = ((0, 8, 0), (1, 8, 1), (1, 8, 2), (2, 8, 2), (4, 8, 4), (4, 9, 4), (4, 2, 8), (8, 8, 9), (65, 8, 65), (9, 1, 4))


def given_specs(text: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Returns what each call of `export` was given as its spec, in the order of the calls."""
    import torch

    found: list[Any] = []

    def theirs(mod: Any, args: Any, kwargs: Any = None, *, dynamic_shapes: Any = None, **options: Any) -> None:
        found.append(dynamic_shapes)

    def ours(fn: Any, args: Any = None, kwargs: Any = None, spec: Any = None, **options: Any) -> None:
        found.append(spec)

    with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(torch.export, "export", theirs)
        patch.setattr(sd, "export", ours)
        exec(compile(text, "program.py", "exec"), {"__name__": "program"})
    return found


def accepted(spec: sd.Spec) -> list[bool]:
    """Returns which of `SIZES` a spec takes; parameters that it leaves out are not passed."""
    import torch

    names = {param.name for param in spec.signature.params}
    found: list[bool] = []
    for a, b, c in SIZES:
        call = {"x": torch.empty(a, b), "y": torch.empty(c)}
        try:
            spec.check(**{name: value for name, value in call.items() if name in names})
            found.append(True)
        except sd.ShapeError:
            found.append(False)
    return found


def comments(text: str) -> list[str]:
    return [
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("style", ["torch", "shapedsl"])
def test_a_converted_program_gives_the_promised_specs(
    seed: int, style: Literal["torch", "shapedsl"], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="the programs make torch's specs")
    text = program(seed)
    report = Report()
    result = convert_source(Source("program.py", text), report, style=style)
    if result.text is None:
        assert result.sites
        assert all(site.outcome == "kept" for site in result.sites)
        assert report.errors
        return
    assert [each for each in comments(text) if each not in result.text] == []
    assert convert_source(Source("program.py", result.text), Report(), style=style).text is None
    given = given_specs(result.text, monkeypatch)
    assert len(given) == len(given_specs(text, monkeypatch)) == len(result.sites)
    for spec, site in zip(given, result.sites, strict=True):
        if site.outcome == "converted" and spec is not None:
            got = next(iter(sd.loads(spec).values())) if isinstance(spec, str) else sd.from_torch(spec)
            promised = [accepted(each) for each in sd.loads(site.shapes).values()]
            assert accepted(got) in promised, (str(got), site.shapes)


def test_most_random_programs_are_converted() -> None:
    sites = [site for seed in SEEDS for site in convert_source(Source("p.py", program(seed)), Report()).sites]
    assert len(sites) >= len(SEEDS)
    assert sum(site.outcome == "converted" for site in sites) >= 0.8 * len(sites)
