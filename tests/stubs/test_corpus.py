"""Every stub of pyrefly-torch-stubs is read: nothing crashes, nothing is dropped silently, what is read is sound text."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst", reason="stubs are read with libcst")

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.ir import Module
from shapedsl.ir.write_defs import write_module

from . import corpus
from .corpus_report import PAGE, File, page, read_all


@pytest.fixture(scope="module")
def files() -> tuple[File, ...]:
    return read_all(corpus.torch_stubs())


def test_it_is_the_whole_package(files: tuple[File, ...]) -> None:
    # counted by `grep -c "def "` but for comments, once; the package is pinned
    assert len(files) == 20
    assert sum(len(file.scanned) for file in files) == 1350
    assert sum(function.computes for file in files for function in file.scanned) == 98


def test_there_is_no_error(files: tuple[File, ...]) -> None:
    found = [(file.name, str(d.span), d.message) for file in files for d in file.report if d.severity is Severity.ERROR]
    assert found == []


def test_every_function_with_shapes_gives_a_spec_or_a_finding(files: tuple[File, ...]) -> None:
    silent = [
        (file.name, function.name, function.lines[0])
        for file in files
        for function in file.shaped
        if file.spec(function) is None and not file.findings(function)
    ]
    assert silent == []


def test_no_other_function_gives_a_spec(files: tuple[File, ...]) -> None:
    shaped = {(file.name, each.name, each.index) for file in files for each in file.shaped}
    read = {(file.name, each.name, each.index) for file in files for each in file.scanned if file.spec(each)}
    assert read <= shaped
    assert len(read) == sum(len(list(file.module)) for file in files)


def test_what_a_return_type_leaves_open_is_told(files: tuple[File, ...]) -> None:
    """A call in a return type, and no dims in the claim: a finding says why."""
    untold: list[tuple[str, str]] = []
    for file in files:
        for function in file.shaped:
            spec = file.spec(function)
            if spec is not None and function.calls and _is_open(spec.returns) and not file.findings(function):
                untold.append((file.name, function.name))
    # these shape functions say themselves that every size is open
    assert untold == [
        ("__init__.pyi", f"{owner}{name}") for owner in ("Tensor.", "") for name in ("movedim", "moveaxis")
    ]


def _is_open(returns: object) -> bool:
    return returns is None or getattr(returns, "dims", ()) is None or "Ellipsis" in repr(returns)


def test_every_spec_resolves(files: tuple[File, ...]) -> None:
    for file in files:
        report = Report()
        for signature in file.module:
            pipeline.resolve(signature, report)
        assert [(d.code, d.message) for d in report.errors] == [], file.name


def test_the_text_of_every_spec_reads_back(files: tuple[File, ...]) -> None:
    for file in files:
        report = Report()
        again = pipeline.read(Source("again.shapes", write_module(file.module)), report)
        assert not report.errors, file.name
        assert [each.name for each in again] == [each.name for each in file.module]
        assert again == file.module, file.name


def test_the_report_is_current(files: tuple[File, ...]) -> None:
    assert page(files) == PAGE.read_text(encoding="utf-8"), "run python -m tests.stubs.corpus_report"


# By hand, from the stubs: file, name and how-manieth → the spec.
EXPECTED = {
    ("__init__.pyi", "Tensor.zero_", 1): "def f(self: Tensor[*Shape]) -> Tensor[*Shape]: ...",
    ("__init__.pyi", "Tensor.reshape_as", 1): (
        "def f(self: Tensor[*Shape], other: Tensor[*OtherShape]) -> Tensor[*OtherShape]: ..."
    ),
    ("__init__.pyi", "Tensor.expand_as", 1): "def f(self: Tensor, other: Tensor[*S]) -> Tensor[*S]: ...",
    ("__init__.pyi", "Tensor.item", 1): "def f(self: Tensor[()]): ...",
    ("__init__.pyi", "Tensor.masked_select", 1): "def f(self: Tensor, mask: Tensor) -> Tensor[_]: ...",
    ("__init__.pyi", "Tensor.gather", 1): (
        "def f(self: Tensor[*Shape], dim: _, index: Tensor[*IndexShape]) -> Tensor[*IndexShape]: ..."
    ),
    ("__init__.pyi", "Tensor.sum", 1): "def f(self: Tensor[*Shape], dim: _ = _, keepdim: _ = _) -> Tensor: ...",
    ("__init__.pyi", "numel", 1): "def f(input: Tensor[*Shape]) -> Scalar[prod(*Shape)]: ...",
    ("__init__.pyi", "outer", 1): "def f(input: Tensor[M], vec2: Tensor[N]) -> Tensor[M, N]: ...",
    ("__init__.pyi", "view_as_complex", 1): "def f(input: Tensor[*S, 2]) -> Tensor[*S]: ...",
    ("__init__.pyi", "view_as_real", 1): "def f(input: Tensor[*S]) -> Tensor[*S, 2]: ...",
    ("__init__.pyi", "arange", 1): "def f(end: Scalar[End], *, dtype: _ = _, device: _ = _) -> Tensor[End]: ...",
    ("__init__.pyi", "mm", 1): "def f(input: Tensor[N, K], mat2: Tensor[K, M]) -> Tensor[N, M]: ...",
    ("__init__.pyi", "bmm", 1): "def f(input: Tensor[B, N, K], mat2: Tensor[B, K, M]) -> Tensor[B, N, M]: ...",
    ("__init__.pyi", "cummax", 1): "def f(input: Tensor[*Shape], dim: _) -> (Tensor[*Shape], Tensor[*Shape]): ...",
    ("linalg.pyi", "eig", 1): "def f(self: Tensor[*Batch, M, N]) -> (Tensor[*Batch, M], Tensor[*Batch, M, N]): ...",
    ("linalg.pyi", "lstsq", 1): (
        "def f(A: Tensor[*Batch, M, N], B: Tensor[*Batch, M, K], rcond: _ = _, *, driver: _ = _)"
        " -> (Tensor[*Batch, N, K], Tensor, Tensor, Tensor): ..."
    ),
    ("linalg.pyi", "qr", 4): (
        "def f(A: Tensor[*Batch, M, N], mode: _ = _, *, out: (Tensor, Tensor) | None = _)"
        " -> (Tensor[*Batch, M, _], Tensor[*Batch, _, N]): ..."
    ),
    ("nn/__init__.pyi", "Linear.forward", 1): ("def f(input: Tensor[*Bs, IN]) -> Tensor[*Bs, OUT]:\n    const IN = _"),
    ("nn/__init__.pyi", "Conv1d.forward", 1): (
        "def f(input: Tensor[B, InC, L]) -> Tensor[B, OutC, _]:\n    const InC = _"
    ),
    ("nn/__init__.pyi", "ConvTranspose1d.forward", 1): (
        "def f(input: Tensor[B, InC, L]) -> Tensor[B, OutC, (L - 1) * S - 2 * P + D * (K - 1) + OP + 1]:\n"
        "    const InC = _"
    ),
    ("nn/__init__.pyi", "AdaptiveAvgPool2d.__init__", 2): "def f(output_size: (Scalar[OH], Scalar[OW])) -> None: ...",
    ("nn/__init__.pyi", "AdaptiveAvgPool2d.forward", 1): (
        "def f(input: Tensor[B, C, _, _]) -> Tensor[B, C, OH, OW]: ..."
    ),
    ("nn/__init__.pyi", "Parameter.__radd__", 1): "def f(self: Tensor[*Shape], other: _) -> Tensor: ...",
    ("nn/attention/flex_attention.pyi", "flex_attention", 1): (
        "def f(query: Tensor[B, H, Tq, D], key: Tensor[B, H_kv, Tkv, D], value: Tensor[B, H_kv, Tkv, D],"
        " score_mod: _ = _, block_mask: _ = _, scale: _ = _, enable_gqa: _ = _, return_lse: _ = _)"
        " -> Tensor[B, H, Tq, D]: ..."
    ),
    ("nn/functional.pyi", "relu", 1): "def f(input: Tensor[*Shape], inplace: _ = _) -> Tensor[*Shape]: ...",
    ("nn/functional.pyi", "pad", 1): "def f(input: Tensor[*Shape], pad: _, mode: _ = _, value: _ = _) -> Tensor: ...",
    ("distributions/transforms.pyi", "ReshapeTransform.__call__", 2): (
        "def f(x: Tensor[Batch, *InShape]) -> Tensor[Batch, *OutShape]: ..."
    ),
    ("distributions/transforms.pyi", "CorrCholeskyTransform.__call__", 1): (
        "def f(x: Tensor[*Batch, N]) -> Tensor[*Batch, _, _]: ..."
    ),
}


@pytest.mark.parametrize("key", [*EXPECTED], ids=lambda key: f"{key[1]}@{key[2]}")
def test_specs(files: tuple[File, ...], key: tuple[str, str, int]) -> None:
    name, function, index = key
    file = next(each for each in files if each.name == name)
    scanned = next(each for each in file.scanned if (each.name, each.index) == (function, index))
    spec, report = file.spec(scanned), Report()
    (expected,) = pipeline.read(Source("expected.shapes", EXPECTED[key]), report)
    assert not report.errors
    assert spec == expected, spec and write_module(Module((spec,)))
