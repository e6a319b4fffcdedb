"""Programs and what they become, both run by torch: they take the sizes that the tables say, and compute the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs torch")

from .rewriting import whole

ones = torch.ones


@dataclass(frozen=True)
class Program:
    """A program that leaves an exported program as ``ep``, and calls of it.

    Attributes:
        text: The program.
        inputs: Makes the arguments from sizes, and the namedtuple of the program.
        both: Sizes that both versions take.
        legacy: Those that only the first takes, since it never checked what was declared.
        neither: Those that neither takes.
    """

    text: str
    inputs: Callable[[tuple[int, ...], Any], tuple[tuple[Any, ...], dict[str, Any]]]
    both: list[tuple[int, ...]]
    legacy: list[tuple[int, ...]]
    neither: list[tuple[int, ...]]
    guards: bool = (
        True  # without, torch checks by another path; the guards of `*args` of a legacy program are wrong code
    )


PROGRAMS = {
    "a shared dim": Program(
        """
        import torch
        from torch import nn
        from torch.export import Dim, export
        rows = Dim("rows", min=1, max=64)
        class Scale(nn.Module):
            def forward(self, a, w):
                return a.sum(1) * w
        ep = export(Scale(), (torch.randn(4, 3), torch.randn(4)),
                    dynamic_shapes={"a": {0: rows}, "w": {0: rows}})
        """,
        lambda s, _: ((ones(s[0], s[2]), ones(s[1])), {}),
        both=[(1, 1, 3), (64, 64, 3)],
        legacy=[(0, 0, 3)],
        neither=[(65, 65, 3), (5, 6, 3), (4, 4, 2)],
    ),
    "a tuple with an int, None and STATIC": Program(
        """
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, img):
                return img * 0.5
        b = Dim("b", min=2, max=16)
        ep = export(Net(), (torch.rand(4, 3, 8, 8),), dynamic_shapes={"img": (b, 3, None, Dim.STATIC)})
        """,
        lambda s, _: ((ones(*s),), {}),
        both=[(2, 3, 8, 8), (16, 3, 8, 8)],
        legacy=[(0, 3, 8, 8), (1, 3, 8, 8)],
        neither=[(17, 3, 8, 8), (4, 3, 9, 8), (4, 3, 8, 7), (4, 2, 8, 8)],
    ),
    "phantom roots": Program(
        """
        import torch
        from torch.export import Dim, export
        class Conv(torch.nn.Module):
            def forward(self, im):
                return im.relu()
        ep = export(Conv(), (torch.rand(1, 3, 64, 48),), dynamic_shapes=(
            {2: Dim("th", min=1, max=16) * 16, 3: 16 * Dim("tw", min=1, max=16)},))
        """,
        lambda s, _: ((ones(1, 3, *s),), {}),
        both=[(16, 16), (256, 32), (64, 48)],
        legacy=[(17, 16), (64, 40)],
        neither=[],
    ),
    "a phantom root in two places": Program(
        """
        import torch
        from torch.export import Dim, export
        class J(torch.nn.Module):
            def forward(self, x, y):
                return x.sum() * y.sum()
        u = Dim("u", min=1, max=16)
        ep = export(J(), (torch.ones(8), torch.ones(12)), dynamic_shapes=[(2 * u,), (3 * u,)])
        """,
        lambda s, _: ((ones(s[0]), ones(s[1])), {}),
        both=[(2, 3), (8, 12), (32, 48)],
        legacy=[],
        neither=[(8, 9), (3, 3), (34, 51)],
    ),
    "a namedtuple and nested dicts": Program(
        """
        import torch, collections
        from torch.export import Dim, export
        State = collections.namedtuple("State", "h c")
        bs = Dim("bs", max=32)
        class Cell(torch.nn.Module):
            def forward(self, feed, st):
                return feed["x"]["raw"].sum() + st.h.sum() + st.c.sum()
        inp = ({"x": {"raw": torch.ones(4, 7)}}, State(torch.ones(4, 2), torch.ones(4, 2)))
        ep = export(Cell(), inp, dynamic_shapes=({"x": {"raw": {0: bs}}}, State({0: bs}, {0: bs})))
        """,
        lambda s, make: (({"x": {"raw": ones(s[0], 7)}}, make(ones(s[1], 2), ones(s[2], 2))), {}),
        both=[(0, 0, 0), (1, 1, 1), (32, 32, 32)],
        legacy=[],
        neither=[(33, 33, 33), (4, 5, 4), (4, 4, 5)],
    ),
    "built in a loop": Program(
        """
        import torch
        from torch.export import Dim, export
        class Two(torch.nn.Module):
            def forward(self, text, audio):
                return text.sum() + audio.sum()
        batch = Dim("batch", max=4)
        spec = {}
        for name, cap in (("text", 77), ("audio", 1500)):
            spec[name] = {0: batch, 1: Dim(f"{name}_len", min=1, max=cap)}
        spec["audio"][0] = 2
        ep = export(Two(), (torch.ones(2, 9), torch.ones(2, 30)), dynamic_shapes=spec)
        """,
        lambda s, _: ((ones(*s[:2]), ones(*s[2:])), {}),
        both=[(0, 1, 2, 1), (4, 77, 2, 1500)],
        legacy=[(2, 0, 2, 30)],
        neither=[(5, 9, 2, 30), (2, 78, 2, 30), (2, 9, 3, 30), (2, 9, 2, 1501)],
    ),
    "*args and **kwargs": Program(
        """
        import torch
        from torch.export import Dim, export
        class V(torch.nn.Module):
            def forward(self, x, *extra, **opts):
                return x.sum() + extra[0].sum() + opts["gate"].sum()
        r = torch.randn
        n = Dim("n", max=10)
        ep = export(V(), (r(4, 3), r(4), r(6)), {"gate": r(4)},
               dynamic_shapes={"x": {0: n}, "extra": ({0: n}, None), "opts": {"gate": {0: n}}})
        """,
        lambda s, _: ((ones(s[0], 3), ones(s[1]), ones(s[2])), {"gate": ones(s[3])}),
        both=[(0, 0, 6, 0), (10, 10, 6, 10)],
        legacy=[],
        neither=[(11, 11, 6, 11), (4, 5, 6, 4), (4, 4, 7, 4), (4, 4, 6, 5)],
        guards=False,
    ),
    "a ShapesCollection": Program(
        """
        import torch
        from torch.export import Dim, ShapesCollection, export
        class M(torch.nn.Module):
            def forward(self, a, rest):
                return a.sum() + rest[0].sum() + rest[1].sum()
        x, y, z = torch.ones(4, 3), torch.ones(5, 3), torch.ones(2)
        n = Dim("n", max=30)
        sc = ShapesCollection()
        sc[x] = (n, 3)
        sc[y] = {0: n + 1}
        ep = export(M(), (x, [y, z]), dynamic_shapes=sc)
        """,
        lambda s, _: ((ones(s[0], 3), [ones(s[1], 3), ones(s[2])]), {}),
        both=[(0, 1, 2), (30, 31, 2)],
        legacy=[],
        neither=[(31, 32, 2), (4, 4, 2), (4, 5, 3)],
    ),
    "a key that a branch adds": Program(
        """
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, x, mask):
                return x.sum() + mask.sum()
        def trace(masked):
            n = Dim("n", min=3, max=8)
            shapes = {"x": {1: n}, "mask": None}
            if masked:
                shapes["mask"] = {0: n + 2}
            return export(Net(), (torch.ones(2, 4), torch.ones(6)), dynamic_shapes=shapes)
        ep = trace(True)
        """,
        lambda s, _: ((ones(2, s[0]), ones(s[1])), {}),
        both=[(3, 5), (8, 10)],
        legacy=[],
        neither=[(9, 11), (4, 5), (2, 4)],
    ),
    "a helper, called twice, and one name twice": Program(
        """
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, x, y):
                return x.sum() + y.sum()
        def rows(limit=6):
            return {0: Dim("rows", min=3, max=limit)}
        ep = export(Net(), (torch.ones(4), torch.ones(4, 2)), dynamic_shapes={"x": rows(), "y": rows()})
        """,
        lambda s, _: ((ones(s[0]), ones(s[1], 2)), {}),
        both=[(3, 3), (6, 6)],
        legacy=[],
        neither=[(7, 7), (4, 5), (2, 2)],
    ),
    "a bound that only the program knows": Program(
        """
        import os
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, x, y):
                return x.sum() + y.sum()
        def trace(longest, least):
            n = Dim("n", min=least, max=longest)
            return export(Net(), (torch.ones(4), torch.ones(4)), dynamic_shapes={"x": {0: n}, "y": {0: n}})
        ep = trace(int(os.environ.get("SHAPEDSL_UNSET", "6")), int(os.environ.get("SHAPEDSL_UNSET", "2")))
        """,
        lambda s, _: ((ones(s[0]), ones(s[1])), {}),
        both=[(2, 2), (6, 6)],
        legacy=[(1, 1), (0, 0)],
        neither=[(7, 7), (3, 4)],
    ),
    "a bound that turns out to be none": Program(
        """
        import os
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, x, y):
                return x.sum() + y.sum()
        rows = Dim("rows", max=os.environ.get("SHAPEDSL_UNSET"))
        width = Dim("width", min=3, max=float(os.environ.get("SHAPEDSL_UNSET", "inf")))
        ep = export(Net(), (torch.ones(4, 5), torch.ones(4)), dynamic_shapes={"x": {0: rows, 1: width}, "y": {0: rows}})
        """,
        lambda s, _: ((ones(s[0], s[1]), ones(s[0])), {}),
        both=[(0, 3), (1, 4), (900, 800)],
        legacy=[],
        neither=[(4, 2)],
    ),
    "a hint whose bound only the program knows": Program(
        """
        import os
        import torch
        from torch.export import Dim, export
        class Net(torch.nn.Module):
            def forward(self, x):
                return x.cos()
        def trace(longest):
            return export(Net(), (torch.ones(4, 5),), dynamic_shapes={"x": {1: Dim.DYNAMIC(min=3, max=longest)}})
        ep = trace(int(os.environ.get("SHAPEDSL_UNSET", "6")))
        """,
        lambda s, _: ((ones(*s),), {}),
        both=[(4, 3), (4, 6)],
        legacy=[],
        neither=[(4, 7), (4, 2), (3, 4)],
    ),
    "dims of one call, and a spec by steps": Program(
        """
        import os
        import torch
        from torch.export import dims, export
        class Net(torch.nn.Module):
            def forward(self, x, y):
                return x.sum() + y.sum()
        most = int(os.environ.get("SHAPEDSL_UNSET", "6"))
        rows, width = dims("rows", "width", max=most)
        shapes = {}
        shapes["x"] = {0: rows, 1: width}
        shapes["y"] = {0: 2 * rows + 1}
        ep = export(Net(), (torch.ones(4, 5), torch.ones(9)), dynamic_shapes=shapes)
        """,
        lambda s, _: ((ones(s[0], s[1]), ones(s[2])), {}),
        both=[(0, 6, 1), (6, 1, 13)],
        legacy=[],
        neither=[(7, 3, 15), (3, 7, 7), (3, 3, 6)],
    ),
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_both_versions_run_as_the_table_says(title: str) -> None:
    program = PROGRAMS[title]
    text = dedent(program.text)
    made, report = whole(text)
    assert not report.errors, [found.message for found in report]
    assert "ShapesSpec" in made
    assert "Dim(" not in made.replace("rows(limit=6):\n    return {0: Dim(", "")
    old, new = (_program(each, program.guards) for each in (text, made))
    for sizes, who in (
        *((each, "both") for each in program.both),
        *((each, "legacy") for each in program.legacy),
        *((each, "neither") for each in program.neither),
    ):
        results = [_result(each, program, sizes) for each in (old, new)]
        took = [result is not None for result in results]
        assert took == {"both": [True, True], "legacy": [True, False], "neither": [False, False]}[who], sizes
        if took[1]:
            assert torch.equal(results[0], results[1]), sizes


def _program(text: str, guards: bool) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), space)
    return {"module": space["ep"].module(check_guards=guards), "State": space.get("State")}


def _result(made: dict[str, Any], program: Program, sizes: tuple[int, ...]) -> Any:
    args, kwargs = program.inputs(sizes, made["State"])
    try:
        return made["module"](*args, **kwargs)
    except (AssertionError, RuntimeError) as error:
        assert any(each in str(error) for each in ("Guard failed", "Runtime assertion failed", "Expected input")), error
        return None
