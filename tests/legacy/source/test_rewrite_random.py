"""Random programs: what is written says what is meant, is Python, and is written once."""

from __future__ import annotations

import random
import re
import sys
from types import ModuleType

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.finding.find import find_sites
from shapedsl.frontends.legacy.source.rewriting.rewrite import rewrite
from shapedsl.frontends.legacy.source.rewriting.variables import table
from shapedsl.frontends.stubs.tree import parse

from .test_rewrite_says import meant, run, seen

HEAD = "import torch\nfrom torch.export import Dim, export\n"
RANGES = ("", ", min=3", ", max=9", ", min=1, max=64", ", max=None")


class Program:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.dims: list[str] = []
        for index in range(self.random.randint(1, 3)):
            self._dim(f"d{index}")
        self.lines.append("DYN = Dim.DYNAMIC")
        if self.random.random() < 0.2:
            self.lines.append(f"print({self.dims[0]})")
        for index in range(self.random.randint(1, 3)):
            self._site(index)

    @property
    def text(self) -> str:
        return HEAD + "\n".join(self.lines) + "\n"

    def _dim(self, name: str) -> None:
        """Defines a dim, or does not, and says how it is used."""
        call = f'Dim("{name}"{self.random.choice(RANGES)})'
        match self.random.randrange(5):
            case 0:
                self.dims.append(call)
            case 1:
                self.lines.append(f"{name}_a = {call}\n{name} = {name}_a")
                self.dims.append(name)
            case 2:
                self.lines.append(f"def {name}_make():\n    return {call}")
                self.dims.append(f"{name}_make()")
            case _:
                self.lines.append(f"{name} = {call}")
                self.dims.append(name)

    def _slot(self) -> str:
        dim = self.random.choice(self.dims)
        forms = [dim] * 5 + [f"2 * {dim}", f"{dim} + 1", "DYN", "Dim.AUTO", "Dim.STATIC", "None", "3"]
        return self.random.choice(forms)

    def _tensor(self, rank: int) -> str:
        kind = self.random.random()
        if kind < 0.5:
            axes = self.random.sample(range(rank), self.random.randint(0, rank))
            named = [axis - rank * (self.random.random() < 0.2) for axis in axes]
            return "{" + ", ".join(f"{axis}: {self._slot()}" for axis in named) + "}"
        slots = ", ".join(self._slot() for _ in range(rank))
        return f"({slots},)" if kind < 0.7 else f"[{slots}]" if kind < 0.9 else "None"

    def _site(self, index: int) -> None:
        ranks = {f"p{at}": self.random.randint(1, 3) for at in range(self.random.randint(1, 3))}
        net, s = f"M{index}", f"s{index}"
        self.lines.append(
            f"class {net}(torch.nn.Module):\n    def forward(self, {', '.join(ranks)}):\n        return p0"
        )
        args = "".join(f"torch.ones({', '.join('4' * rank)}), " for rank in ranks.values())
        specs = {name: self._tensor(rank) for name, rank in ranks.items()}
        shown = "{" + ", ".join(f'"{name}": {spec}' for name, spec in specs.items()) + "}"
        rest = "".join(f', "{name}": {spec}' for name, spec in specs.items() if name != "p0")

        def call(spec: str) -> str:
            return f"export({net}(), ({args}), {spec})"

        given = call(f"dynamic_shapes={s}")
        self.lines.append(
            self.random.choice(
                [
                    call(f"dynamic_shapes={shown}"),
                    call(f"dynamic_shapes=({', '.join(specs.values())},)"),
                    f"{s} = {shown}\n{given}",
                    f"{s} = {shown}\n{given}\nprint({s})",
                    "\n".join([f"{s} = {{}}", *(f'{s}["{name}"] = {spec}' for name, spec in specs.items()), given]),
                    f'b{index} = {{"p0": {specs["p0"]}}}\n' + call(f"dynamic_shapes={{**b{index}{rest}}}"),
                    f"def h{index}():\n    return {shown}\n" + call(f"dynamic_shapes=h{index}()"),
                    f"def f{index}(flag):\n    {s} = {shown} if flag else None\n    return {given}",
                    f'def f{index}(flag):\n    {s} = {shown}\n    if flag:\n        {s}["p0"] = {{0: {self._slot()}}}\n'
                    f"    return {given}",
                    f"o{index} = dict(strict=False, dynamic_shapes={shown})\n" + call(f"**o{index}"),
                    f"{s} = {{}}\nfor q in {tuple(ranks)!r}:\n    {s}[q] = {{0: {self._slot()}}}\n{given}",
                ]
            )
        )


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Program(seed).text
    report = Report()
    tree = parse(Source("program.py", text), report)
    assert tree is not None
    sites = find_sites(tree, report)
    assert sites
    made = rewrite(tree, sites, "torch", report)
    found = [table(conversion.signature) for site in sites for conversion in site.conversions]
    wanted = {meant(each) for each in found if each is not None}
    if made is None:
        assert not wanted
        return
    assert {seen(spec) for spec in run(made, monkeypatch)} == wanted
    again = parse(Source("program.py", made), report)
    assert again is not None
    assert rewrite(again, find_sites(again, Report()), "torch", Report()) is None


@pytest.mark.parametrize("seed", range(40))
def test_bounds_that_are_not_known(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are evaluated as often as before, in the same order, and mean what they would as numbers."""
    ranges = ("", ", min=3", ", max=said(9)", ", max=said(9), min=said(2)", ", min=1, max=said(64)")
    hints = ("Dim.DYNAMIC(max=said(9))", "Dim.AUTO(min=said(3))", "Dim.DYNAMIC(min=3, max=said(8))")
    slot = Program._slot  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(f"{__name__}.RANGES", ranges)

    def hinted(self: Program) -> str:
        return self.random.choice(hints) if self.random.random() < 0.2 else slot(self)

    monkeypatch.setattr(Program, "_slot", hinted)
    text = Program(seed).text.replace(HEAD, f"{HEAD}from ours import said\n")
    found: list[int] = []

    def said(number: object) -> object:
        if isinstance(number, int):
            found.append(number)
        return number

    ours = ModuleType("ours")
    monkeypatch.setattr(ours, "said", said, raising=False)
    monkeypatch.setitem(sys.modules, "ours", ours)
    report = Report()
    tree = parse(Source("program.py", text), report)
    assert tree is not None
    sites = find_sites(tree, report)
    made = rewrite(tree, sites, "torch", report)
    assert all(site.kept or site.conversions for site in sites)
    if made is None:
        return
    tree = parse(Source("program.py", re.sub(r"said\((\d+)\)", r"\1", text)), report)
    assert tree is not None
    numbers = [table(each.signature) for site in find_sites(tree, report) for each in site.conversions]
    got = {seen(spec) for spec in run(made, monkeypatch)}
    assert got <= {meant(each) for each in numbers if each is not None}
    after, found[:] = list(found), []
    run(text, monkeypatch)
    assert after == found
