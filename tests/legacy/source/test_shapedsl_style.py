"""Programs written with this package, run beside those with legacy specs: the same sizes, but where the verdict says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent
from typing import Any

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source import convert_source

HEAD = """\
import collections
import torch
from torch.export import Dim, ShapesCollection, export

class Net(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()

x, y = torch.ones(4, 3), torch.ones(4, 2)
args = (x, y)
"""


def converted(text: str) -> str:
    """Returns what a program becomes; it is all converted."""
    report = Report()
    result = convert_source(Source("program.py", HEAD + dedent(text)), report, style="shapedsl")
    assert result.text is not None, [found.message for found in report]
    assert all(site.outcome == "converted" for site in result.sites)
    return result.text


# What follows the head → what is written for it, and what the imports are.
TEXTS = {
    "a def on the line": (
        """
        b = Dim("b", max=8)
        ep = export(Net(), args, dynamic_shapes={"x": {0: b}, "y": {0: b}}, strict=True)
        """,
        'ep = sd.export(Net(), args, spec="def forward(x: Tensor[b, _], y: Tensor[b, _]): dim b in [0, 8]", strict=True)\n',
    ),
    "a def of several lines": (
        """
        a, b = Dim("a", max=8), Dim("b", min=3)
        ep = export(
            Net(),
            args,
            dynamic_shapes={
                "x": {0: a},  # rows
                "y": {0: b},
            },
        )
        """,
        '''
        ep = sd.export(
            Net(),
            args,
            spec="""
        # rows
        def forward(x: Tensor[a, _], y: Tensor[b, _]):
            dim a in [0, 8]
            dim b in [3, inf]
        """,
        )
        ''',
    ),
    "options that ours lacks": (
        """
        ep = export(Net(), args, dynamic_shapes={"x": {0: Dim("b")}, "y": None}, preserve_module_call_signature=("",))
        """,
        'ep = export(Net(), args, dynamic_shapes=sd.loads("def forward(x: Tensor[b, _], y: _): ...")["forward"].to_torch(),'
        ' preserve_module_call_signature=("",))\n',
    ),
    "another entry point": (
        """
        import torch.export._trace as trace
        ep = trace._export(Net(), args, None, {"x": {0: Dim("b")}, "y": None})
        """,
        "import torch.export._trace as trace\n"
        'ep = trace._export(Net(), args, None, sd.loads("def forward(x: Tensor[b, _], y: _): ...")["forward"].to_torch())\n',
    ),
    "a removed argument": (
        """
        from torch.export import dynamic_dim
        ep = export(Net(), args, constraints=[dynamic_dim(x, 0) <= 8, dynamic_dim(x, 0) == dynamic_dim(y, 0)])
        """,
        'ep = sd.export(Net(), args, spec="def forward(x: Tensor[x_0, _], y: Tensor[x_0, _]): dim x_0 in [0, 8]")\n',
    ),
    "a removed option": (
        """
        ep = export(Net(), args, dynamic_shapes={"x": {0: Dim("b")}}, prefer_deferred_runtime_asserts_over_guards=True)
        """,
        'ep = sd.export(Net(), args, spec="def forward(x: Tensor[b, _], y: _): ...")\n',
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_what_is_written(case: str) -> None:
    text, expected = TEXTS[case]
    body = converted(text).partition("args = (x, y)\n")[2]
    assert body.strip("\n") == dedent(expected).strip("\n")


def test_imports_follow() -> None:
    top = converted(TEXTS["a def on the line"][0]).partition("class")[0]
    assert (
        top == "import collections\nimport shapedsl as sd\nimport torch\nfrom torch.export import ShapesCollection\n\n"
    )


def test_a_spec_that_depends_on_a_branch_is_written_with_torchs_names() -> None:
    text = """
    def trace(wide):
        shapes = {"x": {0: Dim("b")}} if wide else None
        return export(Net(), args, dynamic_shapes=shapes)
    """
    assert 'ShapesSpec({"x": TensorSpec([ShapeVar("b"), None])}) if wide else None' in converted(text)


def test_a_string_that_quotes() -> None:
    text = """
    class State(torch.nn.Module):
        def forward(self, feed):
            return feed["x"].sum()
    ep = export(State(), ({"x": x},), dynamic_shapes={"feed": {"x": {0: Dim("b")}}})
    """
    assert '"""\ndef forward(feed: {"x": Tensor[b, _]}): ...\n"""' in converted(text)


# ------------------------------------------------------------------------------------ under torch


def calls(sizes: Iterable[tuple[int, ...]]) -> list[Any]:
    import torch

    return [(torch.ones(a, 3), torch.ones(b, 2)) for a, b in sizes]


# A program that makes `run` → calls by who takes them: both, only the legacy program, neither.
PROGRAMS = {
    "one size": (
        """
        b = Dim("b", min=3, max=8)
        run = export(Net(), args, dynamic_shapes={"x": {0: b}, "y": {0: b}}).module()
        """,
        {"both": [(3, 3), (8, 8)], "neither": [(2, 2), (9, 9), (4, 5)]},
    ),
    "a bound that was never checked": (
        """
        b = Dim("b", min=1, max=8)
        run = export(Net(), args, dynamic_shapes={"x": {0: b}, "y": {0: b}}).module()
        """,
        {"both": [(1, 1), (8, 8)], "legacy": [(0, 0)], "neither": [(9, 9)]},
    ),
    "a root that is no size": (
        """
        run = export(Net(), args, dynamic_shapes=({0: 2 * Dim("h", max=8)}, {0: Dim("w")})).module()
        """,
        {"both": [(4, 4), (16, 1)], "legacy": [(5, 4)], "neither": [(18, 4)]},
    ),
    "options that ours lacks": (
        """
        b = Dim("b", min=3)
        run = export(Net(), args, dynamic_shapes={"x": {0: b}, "y": {0: b}}, preserve_module_call_signature=()).module()
        """,
        {"both": [(3, 3), (8, 8)], "neither": [(2, 2), (4, 5)]},
    ),
    "built by steps": (
        """
        shapes = {}
        for name, most in (("x", 8), ("y", 9)):
            shapes[name] = {0: Dim(f"{name}_rows", max=most)}
        run = export(Net(), args, dynamic_shapes=shapes).module()
        """,
        {"both": [(1, 9), (8, 0)], "neither": [(9, 9), (8, 10)]},
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_the_same_sizes_run(case: str) -> None:
    pytest.importorskip("torch", reason="exporting needs torch")
    text, expected = PROGRAMS[case]
    old, new = _run(HEAD + dedent(text)), _run(converted(text))
    for who, sizes in expected.items():
        for call in calls(sizes):
            assert _takes(old, call) == (who != "neither"), (who, [tuple(each.shape) for each in call])
            assert _takes(new, call) == (who == "both"), (who, [tuple(each.shape) for each in call])


def test_marks_become_a_compiled_spec() -> None:
    torch = pytest.importorskip("torch", reason="compiling needs torch")
    text = converted(
        """
        def step(x, y):
            return x.sum() + y.sum()
        torch._dynamo.mark_dynamic(x, 0, min=3, max=8)
        run = torch.compile(step, fullgraph=True, backend="eager")
        run(x, y)
        """
    )
    assert "mark_dynamic" not in text
    assert re.search(r"run = sd\.compile\(step, fullgraph=True, backend=\"eager\", spec=", text)
    run = _run(text)
    assert run(torch.ones(8, 3), torch.ones(4, 2)).item() == 32
    assert not _takes(run, (torch.ones(9, 3), torch.ones(4, 2)))


def _run(text: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), names)
    return names["run"]


def _takes(program: Any, call: tuple[Any, ...]) -> bool:
    try:
        program(*call)
    except (AssertionError, RuntimeError, ValueError) as error:
        text = str(error)
        assert "uard failed" in text or "Runtime assertion" in text or "needs" in text or "xpected" in text, text
        return False
    return True
