"""Marks on tensors are followed to the compiled callable that takes them."""

from __future__ import annotations

import pytest

from .finding import codes, errors, found, place, told

STEP = """
from torch._dynamo import mark_dynamic, maybe_mark_dynamic, mark_static
from torch._dynamo.decorators import mark_unbacked
def step(h, t):
    return h.sum() + t.sum()
h, t = torch.randn(16, 4), torch.randn(16)
"""


@pytest.mark.parametrize(
    ("marks", "shapes"),
    [
        ("mark_dynamic(h, 0)", "step(h: Tensor[h_0, _], t: _)"),
        ("torch._dynamo.mark_dynamic(h, index=0, max=64)", "step(h: Tensor[h_0, _], t: _) dim h_0 in [0, 64]"),
        ("mark_dynamic(h, [0, 1], min=2)", "step(h: Tensor[h_0, h_1], t: _) dim h_0 in [2, inf] dim h_1 in [2, inf]"),
        ("mark_dynamic(h, -1, min=2, max=8)", "step(h: Tensor[_, h_1], t: _) dim h_1 in [2, 8]"),
        ("maybe_mark_dynamic(t, 0)", "step(h: _, t: Tensor[t_0])"),
        (
            "mark_unbacked(h, 0, shape_id='n', hint_override=16, min=1)\nmark_unbacked(t, 0, shape_id='n')\nmark_static(t)",
            "step(h: Tensor[n, _], t: Tensor[n]) dim n in [1, inf] hint 16",
        ),
        ("for each in (h, t):\n    mark_dynamic(each, 0)", "step(h: Tensor[h_0, _], t: Tensor[t_0])"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "fast = torch.compile(step, fullgraph=True)\nfast(h, t)",
        "torch.compile(step)(h, t=t)",
        "torch.compile(backend='eager')(step)(h, t)",
    ],
)
def test_marks(marks: str, call: str, shapes: str) -> None:
    assert told(f"{STEP}{marks}\n{call}\n") == [f"torch.compile: {shapes}"]


def test_marks_of_a_parameter() -> None:
    text = STEP + "def run(data):\n    mark_dynamic(data, 0)\n    fast = torch.compile(net)\n    return fast(data, t)"
    assert told(text) == ["torch.compile: forward(self, x: Tensor[x_0, ...], y: _)"]


def test_what_is_stale() -> None:
    text = STEP + "mark_dynamic(h, 0)\nmark_static(t)\nfast = torch.compile(step, dynamic=True)\nfast(h, t)"
    sites, _, tree = found(text)
    assert {tree.code(node).strip() for node in sites[0].stale} == {
        "mark_dynamic(h, 0)",
        "mark_static(t)",
        "dynamic=True",
    }
    assert sites[0].argument is None
    assert sites[0].keyword == "dynamic_shapes"
    assert sites[0].conversions[0].verdict.value == "loss"


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("mark_dynamic(h, 0)\nstep(h, t)", "mark_dynamic(h, 0)", "no call of a compiled callable"),
        (
            "mark_dynamic(h, 0)\none, two = torch.compile(step), torch.compile(net)\none(h, t)\ntwo(h, t)",
            "mark_dynamic(h, 0)",
            "several",
        ),
        ("if h.sum():\n    mark_dynamic(h, 0)\ntorch.compile(step)(h, t)", "mark_dynamic(h, 0)", "some branches"),
        (
            "def go(n):\n    mark_dynamic(h, 0, max=n)\n    torch.compile(step)(h, t)",
            "n",
            "parameter",
        ),
        (
            "def mark(each):\n    mark_dynamic(each, 0)\nmark(h)\ntorch.compile(step)(h, t)",
            "mark_dynamic(each, 0)",
            "another function",
        ),
        (
            "mark_dynamic(h, 0)\ntorch.compile(step)(h, t)\nexport(net, (h, t))",
            "mark_dynamic(h, 0)",
            "`torch.export.export`, which obeys the mark",
        ),
        (
            "import mine\nmark_dynamic(h, 0)\ntorch.compile(step)(h, t)\nmine.train(h)",
            "mark_dynamic(h, 0)",
            "may be compiled",
        ),
        (
            "fast = torch.compile(step)\nmark_dynamic(h, 0)\nfast(h, t)\nmark_dynamic(t, 0)\nfast(torch.ones(2, 4), t)",
            "torch.compile(step)",
            "different marks",
        ),
        (
            "from mine import other\nmark_dynamic(h, 0)\ntorch.compile(other)(h, t)",
            "torch.compile(other)",
            "parameters",
        ),
    ],
)
def test_marks_that_stay(text: str, at: str, message: str) -> None:
    found_errors = errors(STEP + text)
    assert place(found_errors[0]) == at
    assert message in found_errors[0].message


def test_static_marks_alone_say_nothing() -> None:
    assert told(STEP + "mark_static(h)\ntorch.compile(step)(h, t)") == []


def test_a_spec_goes_before_marks() -> None:
    text = STEP + "mark_dynamic(h, 0)\ntorch.compile(step, dynamic_shapes={'h': None})(h, t)"
    assert codes(text) == []


@pytest.mark.parametrize("decorator", ["@torch.compile", "@torch.compile(fullgraph=True)"])
def test_a_decorator(decorator: str) -> None:
    text = f"{STEP}{decorator}\ndef double(x):\n    return x * 2\nmark_dynamic(h, 0, max=64)\ndouble(h)\n"
    assert told(text) == ["torch.compile: double(x: Tensor[x_0, _]) dim x_0 in [0, 64]"]
    sites, _, tree = found(text)
    assert tree.code(sites[0].decorator or sites[0].call) == decorator.removeprefix("@")


def test_optimize_takes_no_spec() -> None:
    text = STEP + "mark_dynamic(h, 0)\nfast = torch._dynamo.optimize('eager')(step)\nfast(h, t)"
    (error,) = errors(text)
    assert "takes no spec" in error.message


def test_marks_that_agree() -> None:
    text = (
        STEP
        + "k = torch.ones(9, 4)\nfast = torch.compile(step)\nfor each in (h, k):\n    mark_dynamic(each, 0)\n    fast(each, t)"
    )
    assert told(text) == ["torch.compile: step(h: Tensor[h_0, _], t: _)"]


def test_a_lambda() -> None:
    text = STEP + "mark_dynamic(t, 0)\nfast = torch.compile(lambda q: q + 1)\nfast(t)"
    assert told(text) == ["torch.compile: _lambda(q: Tensor[q_0])"]


def test_a_marked_tensor_may_be_printed_and_compared() -> None:
    text = STEP + "mark_dynamic(h, 0)\nfast = torch.compile(step)\nprint(h, torch.allclose(fast(h, t), step(h, t)))"
    assert told(text) == ["torch.compile: step(h: Tensor[h_0, _], t: _)"]
