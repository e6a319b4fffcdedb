"""``shapedsl lower --to dims``: texts by hand; that torch understands them is asked of torch."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

import shapedsl as sd
from tests.cli.helpers import run


def dims(text: str, *options: str) -> str:
    result = run("lower", "--to", "dims", *options, "-", text=text)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(text: str) -> list[str]:
    """Returns the headlines of the errors."""
    result = run("lower", "--to", "dims", "-", text=text)
    assert (result.exit_code, result.stdout) == (1, "")
    return [line for line in result.stderr.splitlines() if line.startswith("error[")]


NESTED = """\
def net.Net.forward(x: Tensor[B, 3, _], y: [Tensor[2*B + 1], Tensor], z: {"k": (Tensor[S],)}, *rest: [Tensor[S]],
    n: Scalar[n], m: Scalar[5], **o: {"g": Tensor[B - 1, ...]}):
    dim B in [0, 64]
    int n in [0, 9]
    where S == B + 2
"""


def test_every_structure_has_its_legacy_form() -> None:
    assert dims(NESTED) == (
        "from torch.export import Dim\n"
        "\n"
        'B = Dim("B", min=1, max=64)\n'  # of B - 1
        "\n"
        "forward_dynamic_shapes = {\n"
        '    "x": {0: B, 1: 3},\n'
        '    "y": [{0: 2 * B + 1}, None],\n'
        '    "z": {"k": ({0: B + 2},)},\n'
        '    "rest": ({0: B + 2},),\n'
        '    "n": Dim.DYNAMIC(max=9),\n'
        '    "m": None,\n'
        '    "o": {"g": {0: B - 1}},\n'
        "}\n"
    )


def test_a_residue_is_a_root_that_is_no_size() -> None:
    result = run("lower", "--to", "dims", "-", text="def f(x: Tensor[B], y: Tensor[B - 4]): where B % 3 == 1, B <= 50")
    assert result.stdout == (
        "from torch.export import Dim\n"
        "\n"
        'B_div3 = Dim("B_div3", min=1, max=16)\n'  # 4, 7, …, 49
        "\n"
        "f_dynamic_shapes = {\n"
        '    "x": {0: 3 * B_div3 + 1},\n'
        '    "y": {0: 3 * B_div3 - 3},\n'
        "}\n"
    )
    assert "note[legacy-note]: torch does not check `B % 3 == 1` when a program runs" in result.stderr


def test_halves_equations_and_numbers_are_said_by_one_root() -> None:
    text = "def f(x: Tensor[H], y: Tensor[H // 2], k: Tensor[K], j: Tensor[J]): where H % 2 == 0, K == 5, J == H"
    result = run("lower", "--to", "dims", "-", text=text)
    assert result.stdout.splitlines()[2:] == [
        'H_div2 = Dim("H_div2")',
        "",
        "f_dynamic_shapes = {",
        '    "x": {0: 2 * H_div2},',
        '    "y": {0: H_div2},',
        '    "k": {0: 5},',
        '    "j": {0: 2 * H_div2},',
        "}",
    ]
    assert result.stderr == ""  # `y` tells torch what the root is


def test_names_are_python_and_told_apart() -> None:
    text = (
        "def a.f(x: Tensor[lambda, Dim], *rest: [Tensor[?K, ?K]] * 2): ...\n"
        "def b.f(x: Tensor[?, a_f_dynamic_shapes]): ...\n"
        "def b.f@2(x: Tensor[*batch]): rank batch = 2\n"
        "def g(): ...\n"
    )
    names: dict[str, Any] = {}
    source = dims(text)
    torch_dims = pytest.importorskip("torch.export", reason="the printed Python imports torch")
    exec(compile(source, "<dims>", "exec"), names)
    made = {
        name: value for name, value in names.items() if name.endswith("_dynamic_shapes") and isinstance(value, dict)
    }
    assert list(made) == ["a_f_dynamic_shapes", "b_f_dynamic_shapes", "b_f_2_dynamic_shapes", "g_dynamic_shapes"]
    first = made["a_f_dynamic_shapes"]
    assert [dim.__name__ for dim in first["x"].values()] == ["lambda", "Dim"]
    assert first["rest"][0][0] is first["rest"][0][1] is not first["rest"][1][0]
    assert made["b_f_dynamic_shapes"]["x"][0] is torch_dims.Dim.DYNAMIC
    assert [dim.__name__ for dim in made["b_f_2_dynamic_shapes"]["x"].values()] == ["batch_0", "batch_1"]
    assert made["g_dynamic_shapes"] == {}


def test_one_case_or_the_where_part() -> None:
    text = "def f(x: Tensor[B]):\n    where B >= 3\n    case small: B <= 20\n    otherwise\n"
    result = run("lower", "--to", "dims", "-", text=text)
    assert 'B = Dim("B", min=3)\n' in result.stdout
    assert "warning[cases-not-lowered]" in result.stderr
    assert 'B = Dim("B", min=3, max=20)\n' in dims(text, "--case", "small")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: Tensor[B], y: Tensor[S]): where B <= S", "`B <= S`"),
        ("x: Tensor[B]): where B != 7", "`B != 7`"),
        ("x: Tensor[B]): where B < 4 or B > 8", "`B >= 9 or B <= 3`"),
        ("x: Tensor[B], y: Tensor[S], z: Tensor[B * S]): ...", "`B * S`"),
        ("x: Tensor[B], y: Tensor[B // 2]): ...", "`B // 2`"),
        ("x: Tensor[B], y: Tensor[20 - B]): ...", "`20 - B`"),
        ("x: Tensor[B, S], y: Tensor[B + S]): ...", "`B + S`"),
        ("x: Tensor[HD], y: Tensor[2 * HD]): const HD = _", "`2 * HD`"),
        ("x: Tensor[B], n: Scalar[B]): ...", "cannot tie an int to another size: `B`"),
        ("n: Scalar[n]): ...", "error[negative-int]: `n` may be negative"),
        ("x: Tensor[..., B]): ...", "error[unknown-rank]"),
        ("x: [Tensor[B], *_]): ...", "error[unknown-length]: legacy dims speak of every item of `x`"),
        ("x: [Tensor[B], ...]): ...", "error[unknown-length]"),
        ("x: Batch(a: Tensor[B])): ...", "describe `x` by an object of its class"),
        ("x: Tensor[B]): where B > 4, B < 5", "error[contradiction]"),
    ],
)
def test_what_dims_cannot_say_is_refused(text: str, said: str) -> None:
    (error,) = refused(f"def f({text}\n")
    assert said in error


def test_what_stays_is_printed_beside_what_is_refused() -> None:
    result = run("lower", "--to", "dims", "-", text="def f(x: Tensor[B]): where B != 7\ndef g(x: Tensor[B]): ...\n")
    assert result.exit_code == 1
    assert "g_dynamic_shapes" in result.stdout
    assert "f_dynamic_shapes" not in result.stdout


# -------------------------------------------------------------------------------------------- torch

SPECS = {
    "ranges and derived sizes": ("def f(x: Tensor[B], y: Tensor[2*B + 1]): where 3 <= B, B <= 6", (5, 11)),
    "a shared root": ("def f(x: Tensor[H], y: Tensor[H // 2]): where H % 2 == 0, H >= 6", (8, 4)),
    "an equation": ("def f(x: Tensor[A], y: Tensor[B]): where B == A - 3, A <= 9", (7, 4)),
    "a number": ("def f(x: Tensor[A], y: Tensor[5]): where A >= 4", (6, 5)),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_legacy_export_under_them_takes_what_the_spec_takes(name: str) -> None:
    torch = pytest.importorskip("torch", reason="a legacy export is torch's")
    text, example = SPECS[name]
    spec = sd.loads(text)["f"]
    names: dict[str, Any] = {}
    exec(compile(dims(text), "<dims>", "exec"), names)

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, y: Any) -> Any:
            return x.sum() + y.sum()

    args = tuple(torch.ones(size) for size in example)
    program = torch.export.export(Net(), args, dynamic_shapes=names["f_dynamic_shapes"])
    run_it = program.module()
    verdicts: set[bool] = set()
    for sizes in itertools.product(range(2, 14), repeat=2):
        inputs = [torch.ones(size) for size in sizes]
        taken: list[bool] = []
        for call in (run_it, spec.check):
            try:
                call(*inputs)
                taken.append(True)
            except (AssertionError, RuntimeError, sd.ShapeError):
                taken.append(False)
        assert taken[0] == taken[1], (sizes, dims(text))
        verdicts.add(taken[0])
    assert verdicts == {True, False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        again = sd.from_dims(names["f_dynamic_shapes"], args, fn=Net())
    assert sd.compare(again, spec).relation == "equal"
