"""What an exported program asks of its inputs, frozen into a spec: the texts by hand, the sizes judged by torch."""

from __future__ import annotations

import collections
import io
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="programs are torch's")

import torch
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

import shapedsl as sd

AUTO: Any = Dim.AUTO
DYNAMIC: Any = Dim.DYNAMIC
ones = torch.ones
State = collections.namedtuple("State", "h c")


def module(forward: Callable[..., Any], **state: Any) -> torch.nn.Module:
    made: torch.nn.Module = type("Net", (torch.nn.Module,), {"forward": forward})()
    for name, value in state.items():
        setattr(made, name, value)
    return made


def exported(
    forward: Callable[..., Any], args: tuple[Any, ...], shapes: Any, kwargs: dict[str, Any] | None = None, **rest: Any
) -> ExportedProgram:
    return torch.export.export(module(forward, **rest), args, kwargs, dynamic_shapes=shapes)


def frozen(program: ExportedProgram, **options: Any) -> sd.Converted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ShapeWarning)
        return sd.from_exported(program, **options)


def saved(program: ExportedProgram) -> ExportedProgram:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)


def runs(call: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    try:
        call(*args)
    except Exception:
        return False
    return True


# ------------------------------------------------------------------------------------------- texts


def test_ranges_derived_sizes_and_constants_have_the_users_names() -> None:
    rows = Dim("rows", min=3, max=64)
    program = exported(
        lambda self, x, y, z: x.sum() + y.sum() + z.sum(),
        (ones(4, 2), ones(9), ones(5)),
        {"x": {0: rows}, "y": {0: 2 * rows + 1}, "z": None},
    )
    spec = frozen(program)
    assert str(spec) == (
        "class Net:\n"
        "    def forward(self, x: Tensor[rows, 2], y: Tensor[2 * rows + 1], z: Tensor[5]):\n"
        "        dim rows in [3, 64]"
    )
    assert spec.verdict == "exact"


def test_sizes_without_a_name_are_called_after_their_places() -> None:
    def forward(self: Any, x: Any, d: Any) -> Any:
        return x.sum() + d["k"][1].sum()

    program = exported(forward, (ones(4, 2), {"k": [ones(3), ones(5)]}), ({1: AUTO}, {"k": [{0: AUTO}, {0: AUTO}]}))
    spec = frozen(program)
    assert str(spec) == (
        "class Net:\n"
        "    def forward(\n"
        "        self,\n"
        "        x: Tensor[4, x_1],\n"
        '        d: {"k": [Tensor[d_k_0_0], Tensor[d_k_1_0]]},\n'
        "    ): ..."
    )
    assert spec.verdict == "choice"


def test_names_that_saving_loses_are_made_from_places() -> None:
    rows = Dim("rows", max=64)
    program = exported(lambda self, x, y: x.sum() + y.sum(), (ones(4), ones(4)), {"x": {0: rows}, "y": {0: rows}})
    assert "x: Tensor[rows], y: Tensor[rows]" in str(frozen(program))
    assert "x: Tensor[x_0], y: Tensor[x_0]" in str(frozen(saved(program)))


def test_what_tracing_found_is_said_once() -> None:
    def forward(self: Any, x: Any, y: Any) -> Any:
        return (x.view(-1, 4) + y).sum()

    program = exported(forward, (ones(16), ones(4, 4)), ({0: AUTO}, {0: AUTO, 1: AUTO}))
    assert str(frozen(program)) == (
        "class Net:\n    def forward(self, x: Tensor[4 * y_0], y: Tensor[y_0, 4]):\n        dim y_0 in [2, inf]"
    )  # the guards are: x % 4 == 0, 4*(x // 4) >= 2, x // 4 == y, x // 4 != 1


def test_checks_in_the_program_are_assumptions() -> None:
    def forward(self: Any, x: Any, y: Any) -> Any:
        torch._check(x.shape[0] % 4 == 0)
        torch._check(x.shape[0] * 2 <= y.shape[0])
        return x.sum() + y.sum()

    spec = frozen(exported(forward, (ones(4), ones(9)), ({0: AUTO}, {0: AUTO})))
    assert str(spec) == (
        "class Net:\n"
        "    def forward(self, x: Tensor[x_0], y: Tensor[y_0]):\n"
        "        dim x_0 multiple of 4\n"
        "        dim y_0 in [4, inf]\n"  # torch's conclusion from an x_0 of at least 2, and a guard
        "        where 2 * x_0 <= y_0"
    )


def test_nested_inputs_keep_their_structure_and_ints_their_values() -> None:
    def forward(self: Any, st: Any, k: Any, n: Any, scale: Any, flag: Any, nothing: Any) -> Any:
        return st.h.sum() * k + n * scale

    program = exported(
        forward,
        (State(ones(4), ones(5)), 7, 3, 0.5, True, None),
        (State({0: AUTO}, None), DYNAMIC, None, None, None, None),
    )
    assert str(frozen(program)) == (
        "class Net:\n"
        "    def forward(\n"
        "        self,\n"
        "        st: State(h: Tensor[st_h_0], c: Tensor[5]),\n"
        "        k: Scalar[k],\n"
        "        n: Scalar[3],\n"
        "        scale: _,\n"
        "        flag: _,\n"
        "        nothing: _,\n"
        "    ):\n"
        "        int k in [0, inf]"
    )


@pytest.mark.parametrize("strict", [False, True])
def test_variadic_parameters_come_from_sources_or_from_the_callable(strict: bool) -> None:
    def forward(self: Any, x: Any, *rest: Any, **options: Any) -> Any:
        return x.sum() + rest[0].sum() + options["gate"].sum()

    n = Dim("n", max=10)
    net = module(forward)
    program = torch.export.export(
        net,
        (ones(4), ones(4), ones(6)),
        {"gate": ones(4)},
        dynamic_shapes={"x": {0: n}, "rest": ({0: n}, None), "options": {"gate": {0: n}}},
        strict=strict,
    )
    said = sd.loads(
        'def f(x: Tensor[n], *rest: [Tensor[n], Tensor[6]], **options: {"gate": Tensor[n]}):\n    dim n in [0, 10]'
    )["f"]
    assert frozen(program, fn=net) == said
    if not strict:  # which forgets them
        assert frozen(program) == said


def test_keyword_arguments_are_keyword_only() -> None:
    program = exported(
        lambda self, x, y=None, *, z: x.sum() + z.sum(), (ones(4),), {"x": {0: AUTO}, "z": {0: AUTO}}, {"z": ones(3)}
    )
    assert "x: Tensor[x_0], *, z: Tensor[z_0]" in str(frozen(program))


def test_a_program_made_under_a_spec_gives_the_spec_again() -> None:
    spec = sd.loads("def f(x: Tensor[B, 3], y: Tensor[2 * B + 1]):\n    dim B in [2, 64] multiple of 2")["f"]

    def f(x: Any, y: Any) -> Any:
        return x.sum() + y.sum()

    program = sd.export(f, (ones(4, 3), ones(9)), spec=spec)
    assert frozen(program) == spec
    assert frozen(program).name == "f"
    assert frozen(saved(program)) == spec


class Box:
    """Its registration has keys, and names no attributes."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside


class Named:
    """Its registration does, and its constructor wants a tensor."""

    def __init__(self, inside: Any) -> None:
        assert inside.dim() == 1
        self.inside = inside


pytree.register_pytree_node(
    Box,
    lambda box: ([box.inside], None),
    lambda items, _: Box(*items),
    flatten_with_keys_fn=lambda box: ([(pytree.MappingKey("inside"), box.inside)], None),
)
pytree.register_pytree_node(
    Named,
    lambda box: ([box.inside], None),
    lambda items, _: Named(*items),
    flatten_with_keys_fn=lambda box: ([(pytree.GetAttrKey("inside"), box.inside)], None),
)


def test_an_object_without_keys_stays_static_and_is_told() -> None:
    def forward(self: Any, x: Any, box: Any) -> Any:
        return x.sum() + box.inside.sum()

    n = Dim("n")
    program = exported(forward, (ones(4), Box(ones(5))), ({0: n}, [{0: AUTO}]))
    spec = frozen(program)
    assert [each.code for each in spec.diagnostics] == ["legacy-object-keys", "legacy-loss"]
    assert spec.verdict == "loss"
    assert "x: Tensor[n], box: _" in str(spec)
    still = exported(forward, (ones(4), Box(ones(5))), ({0: n}, [None]))
    assert (frozen(still).verdict, str(frozen(still))) == ("exact", str(spec))  # nothing in it is dynamic
    known = exported(forward, (ones(4), Named(ones(5))), ({0: n}, [{0: AUTO}]))
    assert "x: Tensor[n], box: Named(inside: Tensor[box_inside_0])" in str(frozen(known))


def test_a_parameter_that_a_spec_cannot_name_is_refused() -> None:
    def forward(self: Any, inf: Any) -> Any:
        return inf * 2

    with pytest.raises(sd.ShapeError, match=r"the parameter `inf` of `Net\.forward` has a name") as caught:
        sd.from_exported(exported(forward, (ones(4),), ({0: Dim("b")},)))
    assert caught.value.code == "legacy-names"


# ------------------------------------------------------------------------------------------ bounds


def test_an_assumed_bound_of_two_is_offered_as_0_or_2() -> None:
    program = exported(lambda self, x: x * 2, (ones(4),), ({0: AUTO},))
    assert [runs(program.module(), (ones(size),)) for size in (0, 1)] == [True, True]  # though the range says 2
    with pytest.warns(sd.ShapeWarning, match="it could also be 2, by `lower=2`"):
        spec = sd.from_exported(program)
    assert (spec.range("x_0").lo, spec.verdict, spec.notes[0].taken) == (0, "choice", "a lower bound of 0")
    zero, two = sd.from_exported(program, lower=0), sd.from_exported(program, lower=2)  # asked for: nothing is warned
    assert (zero.range("x_0").lo, two.range("x_0").lo) == (0, 2)
    assert zero.verdict == two.verdict == "exact"


def test_with_the_callable_an_assumed_bound_goes_unless_it_is_needed() -> None:
    free = module(lambda self, x: x * 2)
    needing = module(lambda self, x: x if x.shape[0] == 1 else x * 2)
    found: list[tuple[int | None, str]] = []
    for net in (free, needing):
        program = torch.export.export(net, (ones(4),), dynamic_shapes=({0: AUTO},))
        spec = frozen(program, fn=net)
        sd.export(net, (ones(4),), spec=spec)
        found.append((spec.range("x_0").lo, spec.verdict))
    assert found == [(0, "exact"), (2, "stricter")]


def test_a_declared_bound_stays_and_is_stricter() -> None:
    program = exported(lambda self, x: x * 2, (ones(4),), ({0: Dim("b", min=2, max=9)},))
    spec = frozen(program)
    assert (spec.range("b").lo, spec.range("b").hi, spec.verdict) == (2, 9, "stricter")


def test_a_bound_that_another_demand_enforces_is_exact() -> None:
    b = Dim("b", min=2, max=9)
    program = exported(lambda self, x, y: x.sum() + y.sum(), (ones(4), ones(8)), ({0: b}, {0: 2 * b}))
    assert not runs(program.module(), (ones(1), ones(2)))  # since the range of 2 * b begins at 4
    assert frozen(program).verdict == "exact"


def test_a_root_that_stands_nowhere_alone_is_stricter() -> None:
    program = exported(lambda self, x: x * 2, (ones(32),), ({0: 16 * Dim("th", min=1, max=4)},))
    assert runs(program.module(), (ones(17),))
    spec = frozen(program)
    assert str(spec) == "class Net:\n    def forward(self, x: Tensor[16 * th]):\n        dim th in [1, 4]"
    assert spec.verdict == "stricter"


@pytest.mark.parametrize(("low", "sizes"), [(0, [True, True, True, True]), (3, [False, False, False, True])])
def test_an_int_below_a_range_that_is_not_enforced_is_stricter(low: int, sizes: list[bool]) -> None:
    hint: Any = Dim.DYNAMIC(min=low, max=9) if low else Dim.DYNAMIC
    program = exported(lambda self, x, n: x * n, (ones(4), 5), (None, hint))
    assert [runs(program.module(), (ones(4), n)) for n in (-1, 0, 2, 3)] == sizes
    spec = frozen(program)
    said = ["values below 0 ran although `n` is at least 0, and are now rejected"] if sizes[0] else []
    assert (spec.verdict, [note.message for note in spec.notes]) == ("stricter" if said else "exact", said)


def test_what_is_no_program_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="ExportedProgram, not Linear"):
        sd.from_exported(torch.nn.Linear(1, 1))  # type: ignore[arg-type]
    program = exported(lambda self, x: x * 2, (ones(4),), None)
    with pytest.raises(ValueError, match="0 or 2, not 1"):
        sd.from_exported(program, lower=1)  # type: ignore[arg-type]
    assert str(sd.from_exported(program)) == "class Net:\n    def forward(self, x: Tensor[4]): ..."


# ------------------------------------------------------------------------------------- acceptance


def _add(self: Any, x: Any, y: Any) -> Any:
    return x + y


def _view(self: Any, x: Any, y: Any) -> Any:
    return x.view(-1, 4).sum() + y[5] + x[: y.shape[0]].sum()


def _linear(self: Any, x: Any, y: Any) -> Any:
    return self.layer(x) * y.unsqueeze(-1)


def _branch(self: Any, x: Any, y: Any) -> Any:
    return x.sum() if x.shape[0] > y.shape[0] else y.sum()


def _cat(self: Any, x: Any, y: Any) -> Any:
    return torch.cat([x, y]).reshape(2, -1)


def _stride(self: Any, x: Any, y: Any) -> Any:
    return x[::2] + y


def _reshape(self: Any, x: Any, y: Any) -> Any:
    return x.reshape(y.shape[0], -1) * 2


def _convolve(self: Any, x: Any, y: Any) -> Any:
    return torch.nn.functional.max_pool2d(self.layer(x), 2).sum() + y.sum()


def _checked(self: Any, x: Any, y: Any) -> Any:
    torch._check(x.shape[0] % 4 == 0)
    torch._check(x.shape[0] * y.shape[0] <= 90)
    torch._check(y.shape[0] != 7)
    return x.sum() + y.sum()


_B = Dim("b", min=3, max=20)
SMALL = (0, 1, 2, 3, 4, 5, 8, 12)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], Any]] = {
    "equal by broadcasting": (_add, ((4, 5), (4, 5)), [(AUTO, AUTO)] * 2),
    "residue and range": (_view, ((16,), (8,)), [(AUTO,)] * 2),
    "fixed by a weight": (_linear, ((3, 4, 6), (3, 4)), [(AUTO,) * 3, (AUTO,) * 2]),
    "branch": (_branch, ((6,), (3,)), [(AUTO,)] * 2),
    "derived": (_branch, ((9,), (4,)), [(2 * _B + 1,), (_B,)]),
    "sum": (_cat, ((4,), (6,)), [(AUTO,)] * 2),
    "quotient": (_stride, ((8,), (4,)), [(AUTO,)] * 2),
    "divisor": (_reshape, ((12,), (4,)), [(AUTO,)] * 2),
    "convolution": (_convolve, ((2, 3, 20, 30), (4,)), [(AUTO,) * 4, (AUTO,)]),
    "checks": (_checked, ((4,), (9,)), [(AUTO,)] * 2),
}


def _tries(shapes: Sequence[Sequence[int]], how_many: int) -> list[list[list[int]]]:
    """Returns the example's sizes with some of them changed: all equal ones alike, or each alone."""
    rng = random.Random(0)
    tries: list[list[list[int]]] = []
    for _ in range(how_many):
        size, other = (
            rng.choice(sorted({size for shape in shapes for size in shape})),
            rng.choice((*SMALL, 7, 9, 16, 20)),
        )
        alike = rng.random() < 0.6
        tries.append(
            [[other if each == size and (alike or rng.random() < 0.5) else each for each in shape] for shape in shapes]
        )
    return tries


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_new_export_under_the_frozen_spec_accepts_what_the_program_accepts(name: str) -> None:
    forward, shapes, dynamic = PROGRAMS[name]
    layer = torch.nn.Conv2d(3, 4, 3, stride=2) if name == "convolution" else torch.nn.Linear(6, 2)
    net = module(forward, layer=layer)
    example = tuple(ones(shape) for shape in shapes)
    program = torch.export.export(net, example, dynamic_shapes=dynamic)
    spec = frozen(program)
    (read,) = sd.loads(str(spec)).values()
    assert read == spec
    old, new = program.module(), sd.export(net, example, spec=read).module()
    taken = 0
    for sizes in _tries(shapes, 40):
        args = tuple(ones(shape) for shape in sizes)
        accepted = runs(old, args)
        assert (runs(new, args), runs(spec.check, args)) == (accepted, accepted), (sizes, str(spec))
        taken += accepted
    assert 0 < taken < 40


@pytest.mark.parametrize("strict", [False, True])
def test_a_root_that_torch_counts_from_elsewhere_keeps_its_name(strict: bool) -> None:
    u = Dim("u", min=12, max=90)
    net = module(lambda self, x, y: x.sum() + y.sum())
    program = torch.export.export(net, (ones(16), ones(6)), dynamic_shapes=({0: u}, {0: u - 10}), strict=strict)
    assert str(frozen(program)) == (
        "class Net:\n    def forward(self, x: Tensor[u], y: Tensor[u - 10]):\n        dim u in [12, 90]"
    )
    old = program.module()
    for size, other in ((10, 0), (11, 1), (12, 2), (16, 6), (16, 5), (90, 80), (91, 81)):
        assert runs(old, (ones(size), ones(other))) == runs(frozen(program).check, (ones(size), ones(other))), size
