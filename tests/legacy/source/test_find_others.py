"""What came before `dynamic_shapes=`, beside it and around it: constraints, labels, collections, dumps, engines."""

from __future__ import annotations

import pytest

from .finding import codes, errors, found, place, told

# ---------------------------------------------------------------------------------- ShapesCollection

COLLECTION = """
from torch.export import ShapesCollection
class Rest(torch.nn.Module):
    def forward(self, a, rest):
        return a.sum() + rest[0].sum() + rest["z"].sum()
z = torch.ones(2)
sc = ShapesCollection()
"""


def test_a_collection() -> None:
    text = COLLECTION + "sc[x] = (b, 3)\nsc[z] = {0: b + 1}\nexport(Rest(), (x, {'y': y, 'z': z}), dynamic_shapes=sc)"
    shapes = 'forward(self, a: Tensor[b, 3], rest: {"y": _, "z": Tensor[b + 1]}) dim b in [0, 64]'
    assert told(text) == [f"torch.export.export: {shapes}"]


def test_a_collection_asked_for_its_spec() -> None:
    text = COLLECTION + "sc[x] = (b, 3)\nexport(net, (x, y), dynamic_shapes=sc.dynamic_shapes(net, (x, y)))"
    assert told(text) == ["torch.export.export: forward(self, x: Tensor[b, 3], y: _) dim b in [0, 64]"]


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        ("batch = {'x': x}\nsc[batch['x']] = {0: b}\nexport(net, (x, y), dynamic_shapes=sc)", "batch['x']"),
        ("sc[torch.ones(3)] = {0: b}\nexport(net, (x, y), dynamic_shapes=sc)", "torch.ones(3)"),
        ("sc[z] = {0: b}\nexport(net, (x, y), dynamic_shapes=sc)", "sc[z] = {0: b}"),
    ],
)
def test_a_collection_that_only_a_run_tells(lines: str, at: str) -> None:
    (error,) = errors(COLLECTION + lines)
    assert (error.code, place(error)) == ("legacy-flow", at)


# ---------------------------------------------------------------------------------- AdditionalInputs

MORE = "from torch.export import AdditionalInputs\nmore = AdditionalInputs()\n"


@pytest.mark.parametrize(
    ("lines", "shapes"),
    [
        ("more.add((torch.ones(7, 3), y))", "forward(self, x: Tensor[x_0, _], y: _)"),
        ("more.add((x,), {'y': torch.ones(9)})\nmore.add((x, y))", "forward(self, x: _, y: Tensor[y_0])"),
        (
            "for n in (6, 7):\n    more.add((torch.ones(n, n), torch.ones(n)))",
            "forward(self, x: Tensor[x_0, x_1], y: Tensor[y_0])",
        ),
    ],
)
def test_additional_inputs(lines: str, shapes: str) -> None:
    text = f"{MORE}{lines}\nexport(net, (x, y), dynamic_shapes=more)"
    assert told(text) == [f"torch.export.export: {shapes}"]


@pytest.mark.parametrize(
    "lines",
    [
        "more.add((torch.ones(7), y))",
        "if x.sum():\n    more.add((torch.ones(7, 3), y))",
        "more.add((torch.ones(int(x.sum()), 3), y))",
        "more.add([x])",
    ],
)
def test_additional_inputs_that_only_a_run_tells(lines: str) -> None:
    assert codes(f"{MORE}{lines}\nexport(net, (x, y), dynamic_shapes=more)") == ["legacy-flow"]


# ---------------------------------------------------------------------------------- constraints

DIM = "from torch.export import dynamic_dim\n"


@pytest.mark.parametrize(
    ("constraints", "shapes"),
    [
        ("[dynamic_dim(x, 0)]", "forward(self, x: Tensor[x_0, _], y: _)"),
        ("[dynamic_dim(x, 0) <= 8]", "forward(self, x: Tensor[x_0, _], y: _) dim x_0 in [0, 8]"),
        ("[3 <= dynamic_dim(x, 0), dynamic_dim(x, 0) < 9]", "forward(self, x: Tensor[x_0, _], y: _) dim x_0 in [3, 8]"),
        (
            "[dynamic_dim(x, 0) <= 8, dynamic_dim(x, 0) == dynamic_dim(y, 0), dynamic_dim(y, 0) > 2]",
            "forward(self, x: Tensor[x_0, _], y: Tensor[x_0]) dim x_0 in [3, 8]",
        ),
        (
            "[dynamic_dim(x, 1), dynamic_dim(x, 0)] + [dynamic_dim(y, 0)]",
            "forward(self, x: Tensor[x_0, x_1], y: Tensor[y_0])",
        ),
    ],
)
def test_constraints(constraints: str, shapes: str) -> None:
    text = f"{DIM}constraints = {constraints}\nexport(net, (x, y), constraints=constraints)"
    assert told(text) == [f"torch.export.export: {shapes}"]


def test_constraints_become_another_keyword() -> None:
    sites, _, _ = found(f"{DIM}export(net, (x, y), constraints=[dynamic_dim(x, 0)])")
    assert sites[0].argument is not None
    assert sites[0].argument.keyword is not None
    assert (sites[0].argument.keyword.value, sites[0].keyword) == ("constraints", "dynamic_shapes")


@pytest.mark.parametrize(
    "constraints",
    [
        "[dynamic_dim(torch.ones(2), 0)]",
        "[dynamic_dim(x, 0) <= limit]",
        "make(x)",
        "[2 * 3]",
    ],
)
def test_constraints_that_are_not_known(constraints: str) -> None:
    text = f"{DIM}def run(limit, make):\n    return export(net, (x, y), constraints={constraints})"
    assert codes(text) == ["legacy-flow"]


# ---------------------------------------------------------------------------------- ONNX


def test_labels() -> None:
    text = "torch.onnx.export(net, (x, y), 'f', dynamic_shapes={'x': {0: 'batch', 1: 'width'}, 'y': {0: 'batch'}})"
    assert told(text) == ["torch.onnx.export: forward(self, x: Tensor[batch, width], y: Tensor[batch])"]
    sites, _, _ = found(text)
    assert sites[0].conversions[0].verdict.value == "choice"


def test_dynamic_axes_by_input_names() -> None:
    text = """
        torch.onnx.export(
            net, (x, y), "net.onnx", input_names=["features", "bias"], output_names=["out"], dynamo=False,
            dynamic_axes={"features": {0: "batch", 1: "width"}, "bias": {0: "batch"}, "out": {0: "batch"}},
        )
        """
    assert told(text) == ["torch.onnx.export: forward(self, x: Tensor[batch, width], y: Tensor[batch])"]


def test_dynamic_axes_as_lists() -> None:
    text = "torch.onnx.export(net, (x, y), 'net.onnx', dynamic_axes={'x': [0], 'y': [0]})"
    assert told(text) == ["torch.onnx.export: forward(self, x: Tensor[x_0, _], y: Tensor[y_0])"]


def test_dynamic_axes_of_a_parameter_of_a_function() -> None:
    assert codes("def run(axes):\n    torch.onnx.export(net, (x, y), 'f', dynamic_axes=axes)") == ["legacy-flow"]


# ---------------------------------------------------------------------------------- dumps

DUMP = """
import json
from torch._export.serde.dynamic_shapes import _load_dynamic_shapes
BLOB = json.loads('''{"dynamic_shapes": [["nb", 3], ["2*nb + 1"]], "dims": {"nb": {"min": 1, "max": null, "derived": []}}}''')
shapes = _load_dynamic_shapes(BLOB, from_dict=True)
"""
LOADER = "torch._export.serde.dynamic_shapes._load_dynamic_shapes"


def test_a_dump() -> None:
    assert told(DUMP) == [f"{LOADER}: f(arg0: Tensor[nb, 3], arg1: Tensor[2 * nb + 1]) dim nb in [1, inf]"]
    sites, report, _ = found(DUMP)
    assert sites[0].only_shapes
    assert "legacy-parameter" in [diagnostic.code for diagnostic in report]


def test_a_dump_at_an_export() -> None:
    shapes = "forward(self, x: Tensor[nb, 3], y: Tensor[2 * nb + 1]) dim nb in [1, inf]"
    assert told(DUMP + "export(net, (x, y), dynamic_shapes=shapes)") == [f"torch.export.export: {shapes}"]


def test_a_dump_of_a_file() -> None:
    text = (
        DUMP.split("BLOB", maxsplit=1)[0] + "shapes = _load_dynamic_shapes(json.load(open('d.json')), from_dict=True)"
    )
    assert codes(text) == ["legacy-flow"]


# ---------------------------------------------------------------------------------- TensorRT

ENGINE = """
import torch_tensorrt as trt
def build(model):
    q = trt.Input(min_shape=(1, 8), opt_shape=(4, 32), max_shape=(16, 128), name="q", shared_dims={0: "B"})
    k = trt.Input(min_shape=[1, 8], opt_shape=[4, 32], max_shape=[16, 128], shared_dims={0: "B"})
"""


@pytest.mark.parametrize(
    "call",
    [
        "trt.compile(model, ir='dynamo', inputs=[q, k, trt.Input((1, 64))])",
        "trt.compile(model, 'dynamo', (q, k, trt.Input(shape=(1, 64))))",
        "trt.dynamo.compile(model, arg_inputs=[q, k, trt.Input([1, 64])])",
        "trt.dynamo.trace(model, inputs=[q, k] + [trt.Input((1, 64))])",
    ],
)
def test_engines(call: str) -> None:
    (line,) = told(f"{ENGINE}    return {call}", net=False)
    api, _, shapes = line.partition(": ")
    assert api.startswith("torch_tensorrt.")
    assert shapes == (
        "build(q: Tensor[B, q_1], arg1: Tensor[B, arg1_1], arg2: Tensor[1, 64]) "
        "dim B in [1, 16] hint 4 dim arg1_1 in [8, 128] hint 32 dim q_1 in [8, 128] hint 32"
    )


def test_engines_of_keywords() -> None:
    text = ENGINE + "    return trt.compile(model, ir='dynamo', arg_inputs=[q], kwarg_inputs={'key': k})"
    (line,) = told(text, net=False)
    assert "build(q: Tensor[B, q_1], key: Tensor[B, key_1])" in line


@pytest.mark.parametrize(
    ("made", "spec", "losses"),
    [
        ("trt.Input((1, 64), dtype=torch.half)", "f(arg0: float16[1, 64])", 0),
        ("trt.Input(shape=(1, 64), dtype=trt.dtype.i32)", "f(arg0: int32[1, 64])", 0),
        ("trt.Input((4,), dtype=np.int64, format=torch.contiguous_format)", "f(arg0: int64[4])", 0),
        ("trt.Input((4,), dtype=precision)", "f(arg0: Tensor[4])", 1),
        ("trt.Input((4,), format=torch.channels_last, tensor_domain=(0, 1))", "f(arg0: Tensor[4])", 2),
        ("trt.Input((4,), tensor_domain=(0.0, 2.0))", "f(arg0: Tensor[4])", 0),
        ("trt.Input((4,), low_tensor_domain_incl=1.0)", "f(arg0: Tensor[4])", 1),
        ("trt.Input((4,), torch_tensor=torch.ones(4))", "f(arg0: Tensor[4])", 0),
        ("trt.Input(min_shape=(1,), opt_shape=(2,), max_shape=(9,), is_shape_tensor=True)", "f(arg0: Tensor[1])", 1),
        (
            "trt.Input(shape=(9,), shape_ranges=[((1,), (2,), (4,))])",
            "f(arg0: Tensor[arg0_0]) dim arg0_0 in [1, 4] hint 2",
            0,
        ),
        ("trt.Input.from_tensor(torch.ones(2, 3))", "f(arg0: Tensor[2, 3])", 1),
    ],
)
def test_what_inputs_of_an_engine_say(made: str, spec: str, losses: int) -> None:
    text = (
        f"import torch, numpy as np, torch_tensorrt as trt\ndef f(m, precision):\n    trt.compile(m, inputs=[{made}])"
    )
    assert told(text, net=False) == [f"torch_tensorrt.compile: {spec}"]
    ((site,), _, _) = found(text, net=False)
    assert [note.verdict.value for note in site.conversions[0].notes].count("loss") == losses


def test_an_engine_of_something_unknown() -> None:
    text = "import torch_tensorrt\ndef f(m, n):\n    torch_tensorrt.compile(m, inputs=[torch_tensorrt.Input((n, 3))])"
    assert codes(text, net=False) == ["legacy-flow"]


def test_an_engine_of_tensors_is_no_site() -> None:
    assert told("import torch_tensorrt\ntorch_tensorrt.compile(torch.nn.ReLU(), inputs=[torch.ones(2)])") == []
