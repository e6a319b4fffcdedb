"""Calls of torch that take a legacy spec are recognized by what they are, whatever they are called."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.finding.find import find_sites
from shapedsl.frontends.stubs.tree import parse

from .finding import NET, codes, errors, found, place, told

ROWS = "forward(self, x: Tensor[b, _], y: Tensor[b]) dim b in [0, 64]"
SPEC = 'dynamic_shapes={"x": {0: b}, "y": {0: b}}'


@pytest.mark.parametrize(
    ("imports", "call", "api"),
    [
        ("", f"export(net, (x, y), {SPEC})", "torch.export.export"),
        ("", f"torch.export.export(net, (x, y), {SPEC})", "torch.export.export"),
        ("", f"torch.export.export(mod=net, args=(x, y), kwargs=None, {SPEC})", "torch.export.export"),
        ("", f"torch.export.export(f=net, args=(x, y), {SPEC})", "torch.export.export"),
        ("import torch.export as te", f"te.export(net, (x, y), {SPEC})", "torch.export.export"),
        ("from torch import export as te", f"te.export(net, (x, y), {SPEC})", "torch.export.export"),
        ("from torch.export import export as run", f"run(net, (x, y), {SPEC})", "torch.export.export"),
        ("te = torch.export", f"te.export(net, (x, y), {SPEC})", "torch.export.export"),
        ("run = torch.export.export", f"run(net, (x, y), {SPEC})", "torch.export.export"),
        ('run = getattr(torch.export, "export")', f"run(net, (x, y), {SPEC})", "torch.export.export"),
        ("from torch.export._trace import _export", f"_export(net, (x, y), {SPEC})", "torch.export._trace._export"),
        (
            "from torch.export._trace import _export",
            '_export(net, (x, y), None, {"x": {0: b}, "y": {0: b}}, strict=False)',
            "torch.export._trace._export",
        ),
        ("from torch.export import _trace", f"_trace._export(net, (x, y), {SPEC})", "torch.export._trace._export"),
        ("", f"torch.export._trace._export(net, (x, y), {SPEC})", "torch.export._trace._export"),
        ("", f"torch.export.export_for_training(net, (x, y), {SPEC})", "torch.export.export_for_training"),
        (
            "from torch.export import export_for_inference",
            f"export_for_inference(net, (x, y), {SPEC})",
            "torch.export.export_for_inference",
        ),
        (
            "from torch.export._trace import _export_for_training",
            f"_export_for_training(net, (x, y), {SPEC})",
            "torch.export._trace._export_for_training",
        ),
        ("", f"torch._export.aot_compile(net, (x, y), {SPEC})", "torch._export.aot_compile"),
        ("from torch._export import aot_compile", f"aot_compile(net, (x, y), {SPEC})", "torch._export.aot_compile"),
        (
            "from torch._inductor import aoti_compile_and_package as pack",
            f'pack(export(net, (x, y), {SPEC}), package_path="m.pt2")',
            "torch.export.export",
        ),
        ("", f"torch._dynamo.export(net, x, y, {SPEC})", "torch._dynamo.export"),
        (
            "",
            f"torch._export.capture_pre_autograd_graph(net, (x, y), {SPEC})",
            "torch._export.capture_pre_autograd_graph",
        ),
        ("", f"torch.export.draft_export(net, (x, y), {SPEC})", "torch.export.draft_export"),
        ("", f'torch.onnx.export(net, (x, y), "net.onnx", dynamo=True, {SPEC})', "torch.onnx.export"),
        ("from torch.onnx import export as to_onnx", f"to_onnx(model=net, args=(x, y), {SPEC})", "torch.onnx.export"),
        ("import torch.onnx", f"torch.onnx.export(net, (x, {{'y': y}}), 'f', {SPEC})", "torch.onnx.export"),
    ],
)
def test_apis(imports: str, call: str, api: str) -> None:
    assert told(f"{imports}\nprogram = {call}\n") == [f"{api}: {ROWS}"]


@pytest.mark.parametrize(
    "call",
    [
        f"export(net, (x, y), None, {SPEC})",
        f"export(net, (x,), {{'y': y}}, {SPEC})",
        f"export(net, (), dict(y=y, x=x), {SPEC})",
        f"export(net, args=(x, y), {SPEC}, strict=True)",
        f"export(*(net, (x, y)), {SPEC})",
        'export(net, (x, y), **{"dynamic_shapes": {"x": {0: b}, "y": {0: b}}})',
        "export(net, (x, y), dynamic_shapes=({0: b}, {0: b}))",
        "export(net, (x, y), dynamic_shapes=[[b, None], (b,)])",
        "export(net, (x, y), dynamic_shapes={'y': (b,), 'x': (b, Dim.STATIC)})",
        f"export(net.eval(), (x, y), {SPEC})",
        f"export(net.cuda().half(), (x.cuda(), y.to('cuda')), {SPEC})",
        f"export(net.forward, (x, y), {SPEC})",
    ],
)
def test_arguments(call: str) -> None:
    assert told(call) == [f"torch.export.export: {ROWS}"]


def test_a_partial() -> None:
    text = f"""
        from functools import partial
        run = partial(export, net, {SPEC})
        run((x, y))
        """
    assert told(text) == [f"torch.export.export: {ROWS}"]


def test_either_of_two_functions() -> None:
    text = f"""
        def run(training):
            go = torch.export.export_for_training if training else torch.export.export
            return go(net, (x, y), {SPEC})
        """
    assert told(text) == [f"torch.export.export_for_training: {ROWS}"]


def test_a_function_that_is_called_here() -> None:
    """What the file shows of the callers tells of the inputs."""
    text = """
        def run(model, args, shapes):
            return export(model, args, dynamic_shapes=shapes)
        run(net, (x, y), {"x": {0: b}, "y": {0: b}})
        """
    assert told(text) == [f"torch.export.export: {ROWS}"]


def test_a_function_that_is_called_twice() -> None:
    text = """
        def run(model, args, shapes):
            return export(model, args, dynamic_shapes=shapes)
        run(net, (x, y), {"x": {0: b}, "y": {0: b}})
        run(net, (x, y), {"x": {1: b}})
        """
    other = "forward(self, x: Tensor[_, b], y: _) dim b in [0, 64]"
    assert told(text) == [f"torch.export.export: {ROWS} | {other}"]


def test_one_spec_for_inputs_of_two_ranks_is_kept() -> None:
    text = """
        shapes = {"x": {0: b}, "y": {0: b}}
        for first in (torch.ones(4, 3), torch.ones(4, 3, 2)):
            export(net, (first, y), dynamic_shapes=shapes)
        """
    assert codes(text) == ["legacy-flow"]


def test_branches() -> None:
    text = """
        def build(wide):
            w = Dim("w") if wide else 3
            shapes = {"x": {0: b, 1: w}, "y": {0: b}} if b else None
            return export(net, (x, y), dynamic_shapes=shapes)
        """
    sites, report, _ = found(text)
    assert not report.errors
    assert len(sites[0].worlds) == len(sites[0].conversions) == 2


def test_what_says_nothing_is_no_site() -> None:
    assert told("export(net, (x, y))\nexport(net, (x, y), dynamic_shapes=None)\n") == []
    assert told("export(net, (x, y), dynamic_shapes={})\nexport(net, (x, y), dynamic_shapes=())\n") == []


def test_the_flag_is_stale() -> None:
    text = f"export(net, (x, y), {SPEC}, prefer_deferred_runtime_asserts_over_guards=True)"
    sites, _, tree = found(text)
    assert [tree.code(node) for node in sites[0].stale] == ["prefer_deferred_runtime_asserts_over_guards=True"]


@pytest.mark.parametrize(
    ("value", "notes"),
    [
        (
            "True",
            [
                "`prefer_deferred_runtime_asserts_over_guards` does not go with a ShapesSpec, "
                "which always has run-time asserts"
            ],
        ),
        ("False", []),  # as it is without
    ],
)
def test_the_flag_is_told(value: str, notes: list[str]) -> None:
    sites, _, _ = found(f"export(net, (x, y), {SPEC}, prefer_deferred_runtime_asserts_over_guards={value})")
    assert [note.message for note in sites[0].conversions[0].notes if "prefer_" in note.message] == notes


def test_the_flag_among_options_keeps_the_call() -> None:
    text = f"""
        options = {{"prefer_deferred_runtime_asserts_over_guards": True}}
        export(net, (x, y), {SPEC}, **options)
        """
    assert codes(text) == ["legacy-flow"]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from einops_like import Dim as D", 'export(net, (x, y), dynamic_shapes=D("n"))'),
        ("import mine", f"mine.export(net, (x, y), {SPEC})"),
        ("from mine import export", f"export(net, (x, y), {SPEC})"),
        ("", f"net.export((x, y), {SPEC})"),
        ("", 'labels = {0: {0: "batch"}}\nprint(labels)'),
        ("", "table = {0: torch.zeros(2), 1: torch.ones(2)}\nnet(table[0], table[1])"),
        ("def export(*a, **k): ...", f"export(net, (x, y), {SPEC})"),
        ("", f"torch.jit.export(net, (x, y), {SPEC})"),
    ],
)
def test_what_looks_alike_is_left_alone(imports: str, call: str) -> None:
    sites, report, _ = found(f"{imports}\n{call}\n")
    if "D(" in call:  # torch's export, with what is no dim of torch's
        assert [site.kept != [] for site in sites] == [True]
        assert [error.code for error in report.errors] == ["legacy-flow"]
    else:
        assert sites == []
        assert report.errors == ()


@pytest.mark.parametrize(
    "spec",
    [
        "ds.ShapesSpec({'x': ds.TensorSpec([n, None])})",
        "{'x': ds.TensorSpec([n, None])}",
        "made",
    ],
)
def test_what_is_new_already_is_left_alone(spec: str) -> None:
    text = f"""
        import torch.fx.experimental.dynamic_spec as ds
        n = ds.ShapeVar("n", max=8)
        made = ds.ShapesSpec({{"x": ds.TensorSpec([n, None])}})
        export(net, (x, y), dynamic_shapes={spec})
        """
    assert told(text) == []


def test_what_this_package_makes_is_left_alone() -> None:
    text = """
        import shapedsl as sd
        export(net, (x, y), dynamic_shapes=sd.loads("def f(x: Tensor[B, _]): ...")["f"].to_torch())
        export(net, (x, y), dynamic_shapes=sd.loads("def f(x: Tensor[B, _]): ...")["f"].to_torch(args=(x, y)))
        sd.export(net, (x, y), spec="def f(x: Tensor[B, _]): ...")
        """
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "code", "at", "message"),
    [
        (
            "from mine import make\nexport(net, (x, y), dynamic_shapes=make(net))",
            "legacy-flow",
            "make(net)",
            "`mine.make` is defined elsewhere",
        ),
        (
            "def run(shapes):\n    return export(net, (x, y), dynamic_shapes=shapes)",
            "legacy-flow",
            "shapes",
            "parameter",
        ),
        (
            "def run(limit):\n    return export(net, (x, y), dynamic_shapes={'x': {0: Dim.DYNAMIC(0, limit)}, 'y': None})",
            "legacy-flow",
            "limit",
            "parameter",
        ),
        ("export(net, (x, y), dynamic_shapes=({0: b}))", "legacy-top-level", "{0: b}", "names of parameters"),
        ("export(net, (x, y), dynamic_shapes={'x': {0: b}, 'z': {0: b}})", "legacy-parameter", "{0: b}", "`z`"),
        (
            "export(net, (x, y), dynamic_shapes={'x': {0: b}, 'y': {0: Dim('b', max=9)}})",
            "legacy-bounds",
            "Dim('b', max=9)",
            "`b`",
        ),
        (
            "from mine import Other\nexport(Other(), (x, y), dynamic_shapes=({0: b}, {0: b}))",
            "legacy-parameter",
            "({0: b}, {0: b})",
            "the order of the signature",
        ),
        (
            "from torch.export import AdditionalInputs\nmore = AdditionalInputs()\nimport mine\nmore.add(mine.load())\n"
            "export(net, (x, y), dynamic_shapes=more)",
            "legacy-flow",
            "more.add(mine.load())",
            "AdditionalInputs",
        ),
    ],
)
def test_refusals(text: str, code: str, at: str, message: str) -> None:
    found_errors = errors(text)
    assert [error.code for error in found_errors] == [code]
    assert place(found_errors[0]) == at
    assert message in found_errors[0].message
    assert found_errors[0].helps
    assert told(text)[0].endswith(": kept")


def test_onnx_and_drafts_stay() -> None:
    """torch 2.14: both raise where they are given a ShapesSpec."""
    text = f"torch.onnx.export(net, (x, y), 'f', {SPEC})\ntorch.export.draft_export(net, (x, y), {SPEC})\n"
    sites, report, _ = found(text)
    assert ["raises for a ShapesSpec" in site.only_shapes for site in sites] == [True, True]
    assert [diagnostic.code for diagnostic in report].count("legacy-note") == 2


def test_a_legacy_spec_for_something_unknown_is_told() -> None:
    _, report, _ = found(f"import mine\nmine.trace(net, (x, y), {SPEC})")
    assert [(d.code, place(d)) for d in report] == [("legacy-note", "mine.trace")]


def test_a_module_of_torch() -> None:
    text = "export(torch.nn.Linear(3, 5), (x,), dynamic_shapes=({0: b},))"
    assert told(text) == ["torch.export.export: forward(self, input: Tensor[b, _]) dim b in [0, 64]"]


def test_a_module_that_is_not_shown() -> None:
    """Keys name the parameters; inputs of one rank are whichever."""
    text = """
        from mine import Other
        other = Other()
        export(other, (x, torch.zeros(4, 9)), dynamic_shapes={"p": {0: b}, "q": {0: b}})
        export(other, (x, y), dynamic_shapes={"p": {0: b}, "q": {0: b}})
        """
    assert told(text) == [
        "torch.export.export: forward(self, p: Tensor[b, _], q: Tensor[b, _]) dim b in [0, 64]",
        "torch.export.export: forward(self, p: Tensor[b, ...], q: Tensor[b, ...]) dim b in [0, 64]",
    ]


def test_extracting_needs_no_word_of_rewriting() -> None:
    report = Report()
    tree = parse(Source("net.py", f"{NET}torch.onnx.export(net, (x, y), 'f', {SPEC})"), report)
    assert tree is not None
    assert len(find_sites(tree, report, is_rewritten=False)) == 1
    assert not report.diagnostics


@pytest.mark.parametrize("annotation", ["Net", '"Net"', "Net | None", "Optional[Net]", "typing.Optional[Net]"])
def test_an_annotation_tells_the_signature(annotation: str) -> None:
    text = f"""
        import typing
        from typing import Optional
        def run(model: {annotation}):
            return export(model, (x, y), dynamic_shapes=({{0: b}}, {{0: b}}))
        """
    assert told(text) == [f"torch.export.export: {ROWS}"]


def test_an_annotation_tells_an_object_that_no_spec_can_address() -> None:
    text = """
        from transformers import DynamicCache
        def run(model, ids, past: DynamicCache, n):
            shapes = {"ids": {0: b}, "past": [[{0: b}] * n] * 2}
            return export(model, (), {"ids": ids, "past": past}, dynamic_shapes=shapes)
        """
    assert told(text) == ["torch.export.export: forward(self, ids: Tensor[b, ...], past: _) dim b in [0, 64]"]
    sites, report, _ = found(text)
    assert sites[0].only_shapes
    assert "legacy-object-keys" in [diagnostic.code for diagnostic in report]


def test_a_registered_dataclass() -> None:
    text = """
        from dataclasses import dataclass
        @dataclass
        class Batch:
            ids: torch.Tensor
            size: torch.Tensor
        torch.export.register_dataclass(Batch)
        class Takes(torch.nn.Module):
            def forward(self, batch):
                return batch.ids.sum() + batch.size.sum()
        export(Takes(), (Batch(torch.ones(4, 3), size=torch.ones(4)),), dynamic_shapes={"batch": [{0: b}, {0: b}]})
        """
    shapes = "forward(self, batch: Batch(ids: Tensor[b, _], size: Tensor[b])) dim b in [0, 64]"
    assert told(text) == [f"torch.export.export: {shapes}"]


@pytest.mark.parametrize(
    "call",
    [
        "export()",
        "export(dynamic_shapes=b)",
        "export(net, (x, y), dynamic_shapes={0: {0: 'batch'}})",
        "export(net, (x, y), dynamic_shapes={'x': torch.ones(2)})",
        "export(net, (x, y), constraints=[torch.export.dynamic_dim(), None])",
        "torch.onnx.export(net, (x, y), dynamic_axes={0: {0: 'batch'}})",
        "torch.onnx.export(net, (x, y), dynamic_axes={'x': {'a': 'batch'}})",
        "torch.onnx.export(net, (x, y), dynamic_axes={'x': [0]}, input_names=3)",
        "torch._dynamo.mark_dynamic()",
        "torch._dynamo.mark_dynamic(*[1])",
        "torch.compile()(net)(x)",
        "torch._export.serde.dynamic_shapes._load_dynamic_shapes()",
        "torch._export.serde.dynamic_shapes._load_dynamic_shapes({'dynamic_shapes': 3, 'dims': 4})",
        "import torch_tensorrt as t; t.compile(net, inputs=[t.Input()])",
        "import torch_tensorrt as t; t.compile(net, inputs=[t.Input(min_shape=(1,), opt_shape=(2, 3), max_shape=(0,))])",
        "spec = {}; spec['x'] = spec; export(net, (x, y), dynamic_shapes=spec)",
    ],
)
def test_what_torch_refuses_is_kept(call: str) -> None:
    sites, _, _ = found(call)
    assert all(site.kept and not site.conversions for site in sites)
