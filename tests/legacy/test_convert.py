"""What each form of a legacy spec becomes, and what is said of it; torch's answers are of 2.14.1."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shapedsl as sd
from shapedsl.diagnostics import Diagnostic, Report, Source
from shapedsl.frontends.legacy.convert import convert
from shapedsl.frontends.legacy.model import (
    Derived,
    Entries,
    Hint,
    Hinted,
    Input,
    IntInput,
    Items,
    LegacyDim,
    LegacySpec,
    MappingInput,
    Named,
    ObjectInput,
    OtherInput,
    Pinned,
    SequenceInput,
    TensorInput,
    Tree,
    UnknownInput,
    Unsaid,
)
from shapedsl.frontends.legacy.verdict import Conversion, Note, Verdict
from shapedsl.ir import AnyType, Module, Param, ParamKind
from shapedsl.ir.write_defs import write_module

AUTO, DYNAMIC, STATIC = Hinted(Hint.AUTO), Hinted(Hint.DYNAMIC), Hinted(Hint.STATIC)
B, N = Named("b"), Named("n")
T1, T2, T3 = TensorInput(1), TensorInput(2), TensorInput(3)


def params(text: str) -> tuple[Param, ...]:
    """Returns parameters: ``x *args y= **kwargs``."""
    made: list[Param] = []
    starred = False
    for word in text.split():
        name = word.strip("*=")
        if word.startswith("**"):
            kind = ParamKind.VAR_KEYWORD
        elif word.startswith("*"):
            kind = ParamKind.VAR_POSITIONAL
        else:
            kind = ParamKind.KEYWORD_ONLY if starred else ParamKind.POSITIONAL_OR_KEYWORD
        starred = starred or kind is ParamKind.VAR_POSITIONAL
        made.append(Param(name, AnyType(), kind, default=word.endswith("=")))
    return tuple(made)


def axes(said: Mapping[int, Tree]) -> Entries:
    return Entries(tuple(said.items()))


def named(**said: Tree) -> Entries:
    return Entries(tuple(said.items()))


def row(*items: Tree, kind: Literal["list", "tuple", "namedtuple"] = "tuple", fields: tuple[str, ...] = ()) -> Items:
    return Items(kind, items, fields)


def converted(
    tree: Tree | None, signature: str | None = "x", inputs: Mapping[str, Input] | None = None, **more: object
) -> Conversion:
    report = Report()
    known = None if signature is None else params(signature)
    made = convert(LegacySpec("f", known, tree, inputs, **more), report)  # type: ignore[arg-type]
    assert report.errors == ()
    assert made is not None
    return made


def refused(
    tree: Tree, signature: str | None = "x", inputs: Mapping[str, Input] | None = None, **more: object
) -> Diagnostic:
    report = Report()
    known = None if signature is None else params(signature)
    assert convert(LegacySpec("f", known, tree, inputs, **more), report) is None  # type: ignore[arg-type]
    return report.errors[0]


def text(made: Conversion) -> str:
    return write_module(Module((made.signature,)))


def same(made: Conversion, expected: str) -> None:
    """Checks what a conversion became against shape text, by meaning."""
    assert sd.loads(text(made))["f"] == sd.loads(expected)["f"], text(made)


def messages(made: Conversion) -> list[str]:
    return [note.message for note in made.notes]


# ------------------------------------------------------------------------------------------ dims


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (B, "def f(x: Tensor[b, _]): ..."),
        (Named("b", 0, 8), "def f(x: Tensor[b, _]):\n    dim b in [0, 8]"),
        (Named("b", 3, 8), "def f(x: Tensor[b, _]):\n    dim b in [3, 8]"),
        (Named("b", -1), "def f(x: Tensor[b, _]): ..."),
        (Named("b", 4, 2**63 - 1), "def f(x: Tensor[b, _]):\n    dim b in [4, inf]"),
        (Named("b", 3, 8, 5), "def f(x: Tensor[b, _]):\n    dim b in [3, 8] hint 5"),
        (Pinned(3), "def f(x: Tensor[3, _]): ..."),
        (Unsaid(), "def f(x: _): ..."),
        (STATIC, "def f(x: _): ..."),
        (DYNAMIC, "def f(x: Tensor[x_0, _]): ..."),
        (AUTO, "def f(x: Tensor[x_0, _]): ..."),
        (Hinted(Hint.AUTO, 160, 16000), "def f(x: Tensor[x_0, _]):\n    dim x_0 in [160, 16000]"),
    ],
)
def test_a_dim(dim: LegacyDim, expected: str) -> None:
    same(converted(named(x=axes({0: dim})), inputs={"x": T2}), expected)


@pytest.mark.parametrize(
    ("factor", "offset", "expected"),
    [(2, 0, "2*b"), (1, 1, "b + 1"), (1, -1, "b - 1"), (2, 1, "2*b + 1"), (3, -2, "3*b - 2")],
)
def test_a_derived_dim(factor: int, offset: int, expected: str) -> None:
    root = Named("b", 1, 9)
    tree = named(x=axes({0: root, 1: Derived(root, factor, offset)}))
    same(converted(tree, inputs={"x": T2}), f"def f(x: Tensor[b, {expected}]):\n    dim b in [1, 9]")


def test_names_of_fresh_variables_yield_to_those_of_the_user() -> None:
    tree = named(x=axes({0: DYNAMIC, 1: Named("x_0")}))
    same(converted(tree, inputs={"x": T2}), "def f(x: Tensor[x_0_2, x_0]): ...")


def test_names_of_fresh_variables_tell_the_place() -> None:
    inputs = {"x": MappingInput((("a-b", SequenceInput("list", (T1, T1))),))}
    tree = named(x=Entries((("a-b", row(Unsaid(), axes({0: AUTO}), kind="list")),)))
    same(converted(tree, inputs=inputs), 'def f(x: {"a-b": [_, Tensor[x_a_b_1_0]]}): ...')


# ------------------------------------------------------------------------------ what legacy programs ran


@pytest.mark.parametrize(
    ("dims", "verdict", "part"),
    [
        # by exporting and calling: a lower bound is checked from 3 on, and by any slot of the name
        ((Named("b", 0, 9),), Verdict.EXACT, ""),
        ((Named("b", 1, 9),), Verdict.STRICTER, "size 0 ran although `b` is at least 1, and is now rejected"),
        ((Named("b", 2),), Verdict.STRICTER, "sizes 0 and 1 ran although `b` is at least 2, and are now rejected"),
        ((Named("b", 3),), Verdict.EXACT, ""),
        ((Named("b", 1, 9), Derived(Named("b", 1, 9), 2, 0)), Verdict.STRICTER, "size 0 ran"),
        ((Named("b", 1, 9), Derived(Named("b", 1, 9), 2, 1)), Verdict.EXACT, ""),  # y >= 3 is checked
        ((Named("b", 1, 9), Derived(Named("b", 1, 9), 1, -1)), Verdict.EXACT, ""),  # of b = 0 there is no b - 1
        # a root that is no size is no integer at run time, but its slots' ranges are checked
        ((Derived(Named("b", 1, 16), 16, 0),), Verdict.STRICTER, "not a multiple of 16 ran for `16*b`, such as 17,"),
        (
            (Derived(Named("b", 1, 16), 2, 1),),
            Verdict.STRICTER,
            "not a multiple of 2 plus 1 ran for `2*b + 1`, such as 4",
        ),
        ((Derived(Named("b", 4, 4), 16, 0),), Verdict.EXACT, ""),
        ((Derived(Named("b", 0, 8), 1, 3),), Verdict.EXACT, ""),
        ((Derived(Named("b", 1, 8), 1, 1),), Verdict.STRICTER, "sizes below 2 ran for `b + 1`"),
        # 3*x == 2*y makes both what they are declared to be; y == 2*x lets x = 7, y = 14 pass
        ((Derived(Named("b", 1, 16), 2, 0), Derived(Named("b", 1, 16), 3, 0)), Verdict.EXACT, ""),
        ((Derived(Named("b", 2, 8), 2, 0), Derived(Named("b", 2, 8), 4, 0)), Verdict.STRICTER, "not a multiple of 2"),
        ((Hinted(Hint.DYNAMIC, 2, 8),), Verdict.STRICTER, "sizes 0 and 1 ran"),
        ((Hinted(Hint.DYNAMIC, 3, 8),), Verdict.EXACT, ""),
    ],
)
def test_what_the_new_spec_rejects(dims: tuple[LegacyDim, ...], verdict: Verdict, part: str) -> None:
    made = converted(named(x=row(*dims)), inputs={"x": TensorInput(len(dims))})
    assert made.verdict is verdict
    stricter = [note for note in made.notes if note.verdict is Verdict.STRICTER]
    assert bool(stricter) == bool(part)
    assert all(note.code == "legacy-stricter" for note in stricter)
    if part:
        assert part in stricter[0].message


def test_a_note_names_each_place() -> None:
    made = converted(named(x=axes({0: Named("b", 1)}), y=row(axes({1: Named("b", 1)}))), "x y")
    assert made.notes[0].places == ("x.shape[0]", "y[0].shape[1]")


def test_hints_that_differ() -> None:
    made = converted(named(x=axes({0: Named("b", 1, 9, 4)}), y=axes({0: Named("b", 1, 9, 8)})), "x y", runtime="engine")
    assert messages(made) == ["`b` has the hints 4 and 8"]
    assert (made.verdict, made.notes[0].taken, made.notes[0].others) == (Verdict.CHOICE, "the hint 4", ("the hint 8",))
    same(made, "def f(x: Tensor[b, ...], y: Tensor[b, ...]):\n    dim b in [1, 9] hint 4")


def test_where_bounds_were_checked_nothing_becomes_stricter() -> None:
    tree = named(x=row(Named("b", 1), Derived(Named("h", 1, 8), 16, 0), Hinted(Hint.DYNAMIC, 2)))
    assert converted(tree, runtime="engine").verdict is Verdict.EXACT


def test_auto_is_a_choice() -> None:
    made = converted(named(x=axes({0: AUTO})), inputs={"x": T1})
    assert made.verdict is Verdict.CHOICE
    assert made.notes[0].code == "legacy-choice"
    assert made.notes[0].taken == "the variable `x_0` in [0, inf]"
    assert "a static size" in made.notes[0].others


def test_the_range_of_a_static_size_is_dropped_with_a_note() -> None:
    made = converted(named(x=axes({0: Hinted(Hint.STATIC, 2, 8), 1: B})), inputs={"x": T2})
    assert made.verdict is Verdict.EXACT
    assert messages(made) == ["the range [2, 8] of a static size was checked on the example only: dropped"]


# ----------------------------------------------------------------------------------- one name, two ranges


def test_two_ranges_of_one_name() -> None:
    source = Source("a.py", 'Dim("k", max=8) Dim("k", max=9)')
    first, second = source.span(0, 15), source.span(16, 31)
    tree = named(p=axes({0: Named("k", None, 8, span=first)}), q=axes({0: Named("k", None, 9, span=second)}))
    error = refused(tree, "p q")
    assert error.code == "legacy-bounds"
    assert error.message == "`k` is defined twice, with [0, 8] and [0, 9]"
    assert [(each.span, each.label) for each in error.annotations] == [
        (second, "here in [0, 9]"),
        (first, "here in [0, 8]"),
    ]
    assert error.helps[0] == "give both the range [0, 8] to keep one size"
    assert error.helps[1].startswith("rename one of them")


def test_disjoint_ranges_of_one_name_can_only_be_renamed() -> None:
    error = refused(named(p=axes({0: Named("k", 0, 3)}), q=axes({0: Named("k", 5, 9)})), "p q")
    assert len(error.helps) == 1
    assert "rename" in error.helps[0]


def test_one_name_twice_with_one_range_is_one_size() -> None:
    tree = named(p=axes({0: Named("k", None, 8)}), q=axes({0: Named("k", 0, 8)}))
    made = converted(tree, "p q", {"p": T1, "q": T1})
    same(made, "def f(p: Tensor[k], q: Tensor[k]):\n    dim k in [0, 8]")
    assert made.notes == ()


def test_a_derived_dim_may_give_its_root_another_range() -> None:
    # torch compares ranges by the derived dim's own name, and then checks both
    tree = named(p=axes({0: Named("k", 0, 8)}), q=axes({0: Derived(Named("k", 0, 9), 2, 0)}))
    made = converted(tree, "p q", {"p": T1, "q": T1})
    same(made, "def f(p: Tensor[k], q: Tensor[2*k]):\n    dim k in [0, 8]")
    assert "both hold, so it is in [0, 8]" in messages(made)[0]


@pytest.mark.parametrize(
    "dim",
    [Named("b", 5, 3), Hinted(Hint.DYNAMIC, 5, 3), Derived(Named("b", 0, 9), 1, -5), Derived(Named("b", 1), 3, -4)],
)
def test_ranges_that_torch_refuses(dim: LegacyDim) -> None:
    assert refused(named(x=axes({0: dim}))).code == "legacy-bounds"


def test_the_least_root_of_a_derived_dim_is_offered() -> None:
    error = refused(named(x=axes({0: Derived(Named("b", 1), 3, -4)})))
    assert error.helps == ("give `b` the bound `min=2`",)


@pytest.mark.parametrize(
    ("dims", "sizes", "part"),
    [
        ((Pinned(3), B), (5, 4), "the example's size 5 is not 3"),
        ((Named("b", 0, 8), N), (9, 4), "the example's size 9 is no `b` with `b` in [0, 8]"),
        ((Named("b", 5), N), (4, 4), "the example's size 4 is no `b` with `b` in [5, inf]"),
        ((Derived(B, 2, 1), N), (8, 4), "the example's size 8 is no `2*b + 1` with `b` in [0, inf]"),
        ((B, B), (4, 5), "`b` is 4 and 5 in the example"),
        ((B, Derived(B, 2, 0)), (4, 10), "`b` is 4 and 5 in the example"),
    ],
)
def test_an_example_that_torch_refuses(dims: tuple[LegacyDim, ...], sizes: tuple[int, ...], part: str) -> None:
    made = converted(named(x=row(*dims)), inputs={"x": TensorInput(2, sizes)})
    assert [part in message for message in messages(made) if "refuses" in message] == [True]


@pytest.mark.parametrize("dims", [(Pinned(3), B), (B, Derived(B, 2, 1)), (N, Derived(Named("h", 1, 4), 4, 0))])
def test_an_example_that_fits(dims: tuple[LegacyDim, ...]) -> None:
    made = converted(named(x=row(*dims)), inputs={"x": TensorInput(2, (3, None if dims[0] == N else 7)[:2])})
    assert not [message for message in messages(made) if "refuses" in message]


@pytest.mark.parametrize("name", ["_", "inf", "in", "größe", "true"])
def test_names_that_are_none(name: str) -> None:
    error = refused(named(x=axes({0: Named(name)})))
    assert error.code == "legacy-names"
    assert name in error.message


def test_a_parameter_that_a_spec_cannot_name() -> None:
    assert refused(named(_=axes({0: B})), "_").code == "legacy-names"


# ------------------------------------------------------------------------------------------ axes


def test_negative_axes_are_counted_from_the_rank() -> None:
    made = converted(named(x=axes({-1: B, -3: N})), inputs={"x": T3})
    same(made, "def f(x: Tensor[n, _, b]): ...")
    assert made.verdict is Verdict.EXACT
    assert all("negative axis" in message for message in messages(made))


def test_a_hint_at_a_negative_axis_was_static() -> None:
    made = converted(named(x=axes({-1: DYNAMIC})), inputs={"x": T2})
    same(made, "def f(x: Tensor[_, x_1]): ...")
    assert made.verdict is Verdict.CHOICE


def test_an_unknown_rank_leaves_room() -> None:
    same(converted(named(x=axes({0: B})), "x"), "def f(x: Tensor[b, ...]): ...")
    same(converted(named(x=axes({2: B})), "x"), "def f(x: Tensor[_, _, b, ...]): ...")
    same(converted(named(x=axes({0: B, -1: N})), "x"), "def f(x: Tensor[b, ..., n]): ...")
    same(converted(named(x=axes({-2: DYNAMIC})), "x"), "def f(x: Tensor[..., x_last_2, _]): ...")


@pytest.mark.parametrize(
    ("tree", "given"),
    [
        (axes({2: B}), T2),
        (axes({-3: B}), T2),
        (axes({0: B, -2: N}), T2),
        (row(B, N, N), T2),
        (named(a=B), T2),
        (B, T2),
        (Pinned(3), T2),
        (row(B, row(N)), T2),
        (axes({0: axes({0: B})}), T2),
        (axes({0: B}), OtherInput("float")),
        (DYNAMIC, OtherInput("bool")),
        (axes({0: B}), IntInput(3)),
        (axes({0: B}), SequenceInput("list", (T1,))),
        (row(axes({0: B})), SequenceInput("list", (T1, T1))),
        (row(B), MappingInput((("a", T1),))),
        (named(b=axes({0: B})), MappingInput((("a", T1),))),
        (row(axes({0: B})), ObjectInput("Pair", (("h", T1), ("c", T1)), True)),
        (axes({0: B}), ObjectInput("Pair", (("h", T1), ("c", T1)))),
    ],
)
def test_a_spec_that_does_not_fit_its_input(tree: Tree, given: Input) -> None:
    error = refused(named(x=tree), inputs={"x": given})
    assert error.code == "legacy-parameter"
    assert "`x" in error.message


def test_an_object_that_is_not_registered() -> None:
    assert refused(named(x=row(axes({0: B}))), inputs={"x": OtherInput("Cache")}).helps[0].startswith("register Cache")
    assert refused(named(x=row(axes({0: B}))), inputs={"x": OtherInput("float")}).helps == ()


def test_a_static_axis_that_the_tensor_lacks_is_ignored_as_torch_does() -> None:
    same(converted(named(x=axes({0: B, 7: Unsaid()})), inputs={"x": T1}), "def f(x: Tensor[b]): ...")


# ------------------------------------------------------------------------------------- containers


def test_what_int_keys_mean_is_told_by_the_input() -> None:
    tree = named(x=axes({0: axes({0: B}), 1: Unsaid()}))
    same(converted(tree, inputs={"x": MappingInput(((0, T1), (1, T2)))}), "def f(x: {0: Tensor[b], 1: _}): ...")
    same(converted(tree), "def f(x: {0: Tensor[b, ...], 1: _}): ...")
    # ints in a dict, and a tensor's dims, are written alike
    dims = named(x=axes({0: DYNAMIC}))
    made = converted(dims, inputs={"x": MappingInput(((0, IntInput()),))})
    same(made, "def f(x: {0: Scalar[x_0]}):\n    int x_0 in [0, inf]")


def test_what_a_tuple_means_is_told_by_the_input() -> None:
    tree = named(x=row(DYNAMIC, Unsaid()))
    same(converted(tree), "def f(x: Tensor[x_0, _]): ...")
    made = converted(tree, inputs={"x": SequenceInput("tuple", (IntInput(4), T1))})
    same(made, "def f(x: (Scalar[x_0], _)):\n    int x_0 in [0, inf]")


@pytest.mark.parametrize("tree", [axes({0: DYNAMIC}), row(DYNAMIC, Pinned(3)), row(AUTO, kind="list")])
def test_without_the_input_dims_may_be_ints(tree: Tree) -> None:
    made = converted(named(x=tree))
    assert made.verdict is Verdict.CHOICE
    assert [note.taken for note in made.notes if "described alike" in note.message] == ["the dims of a tensor"]
    # a named dim is a tensor's: torch refuses it for an int
    made = converted(named(x=row(B, DYNAMIC), y=axes({0: B})), "x y")
    assert not any("described alike" in message for message in messages(made))


def test_nested_containers() -> None:
    given = MappingInput((("a", SequenceInput("tuple", (T1, MappingInput((("k", T2),))))), ("z", T1)))
    tree = named(x=named(a=row(axes({0: B}), named(k=row(Unsaid(), B))), z=Unsaid()))
    same(converted(tree, inputs={"x": given}), 'def f(x: {"a": (Tensor[b], {"k": Tensor[_, b]}), "z": _}): ...')


def test_namedtuples_are_objects_by_field() -> None:
    given = ObjectInput("State", (("h", T1), ("c", T1)), is_namedtuple=True)
    tree = row(axes({0: B}), Unsaid(), kind="namedtuple", fields=("h", "c"))
    same(converted(named(x=tree), inputs={"x": given}), "def f(x: State(h: Tensor[b])): ...")
    same(converted(named(x=tree)), "def f(x: object(h: Tensor[b, ...])): ...")


def test_registered_objects_are_objects_by_attribute() -> None:
    given = ObjectInput("Batch", (("x", T2), ("edges", SequenceInput("list", (T1,)))))
    tree = named(x=row(axes({0: B}), row(axes({0: N}), kind="list"), kind="list"))
    same(converted(tree, inputs={"x": given}), "def f(x: Batch(x: Tensor[b, _], edges: [Tensor[n]])): ...")


@pytest.mark.parametrize("children", [(), ((None, T1), (None, T1))])
def test_objects_without_names_of_attributes_are_lost(children: tuple[tuple[str | None, Input], ...]) -> None:
    report = Report()
    tree = named(ids=axes({0: B}), past=row(axes({0: B}), axes({0: B})))
    spec = LegacySpec("f", params("ids past"), tree, {"ids": T2, "past": ObjectInput("DynamicCache", children)})
    made = convert(spec, report)
    assert made is not None
    same(made, "def f(ids: Tensor[b, _], past: _): ...")
    assert made.verdict is Verdict.LOSS
    (warning,) = report.diagnostics
    assert warning.code == "legacy-object-keys"
    assert "DynamicCache" in warning.message
    assert len(warning.helps) == 3


@pytest.mark.parametrize(
    ("tree", "given", "expected", "taken"),
    [
        (row(axes({0: B})), SequenceInput("list", (T1,)), "[Tensor[b]]", "a list, as the input is"),
        (row(axes({0: B}), kind="list"), SequenceInput("tuple", (T1,)), "(Tensor[b],)", "a tuple, as the input is"),
        (named(a=axes({0: B})), MappingInput((("a", T1), ("z", T1))), '{"a": Tensor[b], "z": _}', "static"),
        (axes({1: axes({0: B})}), MappingInput(((0, T1), (1, T1), (2, T1))), "{0: _, 1: Tensor[b], 2: _}", "static"),
        (row(axes({0: B})), ObjectInput("P", (("h", T1),), True), "object(h: Tensor[b])", "the fields of P in order"),
        (Pinned(3), IntInput(3), "Scalar[3]", "the value 3"),
        (row(B, Pinned(3)), TensorInput(2, (2, 4)), "Tensor[b, 3]", "the size 3"),
        (axes({0: Named("k", 3, 9)}), TensorInput(1, (2,)), None, "`k` with `k` in [3, 9]"),
        (axes({0: B, 1: B}), TensorInput(2, (2, 4)), "Tensor[b, b]", "one size, `b`"),
    ],
)
def test_what_torch_refuses_and_has_one_meaning_is_a_choice(
    tree: Tree, given: Input, expected: str | None, taken: str
) -> None:
    made = converted(named(x=tree), inputs={"x": given})
    if expected is not None:
        same(made, f"def f(x: {expected}): ...")
    assert made.verdict is Verdict.CHOICE
    (note,) = [note for note in made.notes if note.message.startswith("torch.export refuses this spec: ")]
    assert (note.code, note.taken, note.places[0].partition(".")[0]) == ("legacy-choice", taken, "x")
    assert note.others != ()


def test_every_key_that_is_left_out_is_named() -> None:
    given = MappingInput((("a", T1), ("y", T1), ("z", T1)))
    made = converted(named(x=named(a=axes({0: B}))), inputs={"x": given})
    assert messages(made)[0] == "torch.export refuses this spec: the key 'y', 'z' is left out"


def test_what_is_static_in_a_dict_is_there_all_the_same() -> None:
    """Else the spec would take a dict without it, which the legacy program refuses."""
    given: Mapping[str, Input] = {"x": MappingInput((("a", T1), ("z", T1)))}
    made = converted(named(x=named(a=axes({0: B}), z=Unsaid())), inputs=given)
    same(made, 'def f(x: {"a": Tensor[b], "z": _}): ...')
    assert str(write_module(Module((made.signature,)))).startswith('def f(x: {"a": Tensor[b], "z": _})')
    # nothing said of any of them is nothing said of the dict, as it is of a list
    same(converted(named(x=named(a=Unsaid(), z=Unsaid())), inputs=given), "def f(x: _): ...")
    inner = named(x=named(a=axes({0: B}), z=named(k=Unsaid())))
    same(
        converted(inner, inputs={"x": MappingInput((("a", T1), ("z", MappingInput((("k", T1),)))))}),
        'def f(x: {"a": Tensor[b], "z": _}): ...',
    )


@pytest.mark.parametrize("tree", [Unsaid(), Entries(()), Items("tuple", ()), Items("list", ())])
@pytest.mark.parametrize("given", [T2, SequenceInput("list", (T1,)), IntInput(2), OtherInput("float")])
def test_nothing_said_is_static(tree: Tree, given: Input) -> None:
    same(converted(named(x=tree, y=axes({0: B})), "x y", {"x": given, "y": T1}), "def f(x: _, y: Tensor[b]): ...")


# ------------------------------------------------------------------------------------------ ints


def test_ints() -> None:
    # torch ran negative ones too, although the program's range is [0, inf]
    made = converted(named(n=DYNAMIC), "n", {"n": IntInput(3)})
    same(made, "def f(n: Scalar[n]):\n    int n in [0, inf]")
    assert "values below 0 ran, and are now rejected" in messages(made)
    made = converted(named(n=Hinted(Hint.DYNAMIC, 4, 7)), "n", {"n": IntInput(5)})
    same(made, "def f(n: Scalar[n]):\n    int n in [4, 7]")
    assert made.verdict is Verdict.EXACT
    same(converted(named(n=Pinned(3)), "n", {"n": IntInput(3)}), "def f(n: Scalar[3]): ...")
    same(converted(named(n=STATIC), "n", {"n": IntInput(3)}), "def f(n: _): ...")


def test_a_named_dim_of_an_int_is_what_torch_refuses() -> None:
    made = converted(named(x=axes({0: N}), n=N), "x n", {"x": T1, "n": IntInput(3)})
    same(made, "def f(x: Tensor[n], n: Scalar[n]): ...")
    assert messages(made)[0] == "torch.export refuses this spec: a named dim for an int"
    assert made.verdict is Verdict.CHOICE
    made = converted(named(n=Named("k", 0, 9)), "n", {"n": IntInput(3)})
    same(made, "def f(n: Scalar[k]):\n    int k in [0, 9]")
    assert messages(made)[0] == "torch.export refuses this spec: a named dim for an int"
    assert made.verdict is Verdict.CHOICE


# ------------------------------------------------------------------------------------- parameters


def test_nothing_at_the_top() -> None:
    same(converted(None, "x y"), "def f(x, y): ...")
    same(converted(Unsaid(), "x y"), "def f(x, y): ...")
    same(converted(Entries(()), "x y"), "def f(x, y): ...")
    same(converted(Items("tuple", ()), "x y", {}), "def f(x, y): ...")


def test_a_tuple_is_in_the_order_of_the_signature() -> None:
    # y and z are passed by keyword, z first; x is passed by position
    given: Mapping[str, Input] = {"x": T1, "y": T1, "z": T2}
    tree = row(axes({0: B}), Unsaid(), axes({1: N}))
    keyword = ParamKind.KEYWORD_ONLY
    known = (Param("x", AnyType()), Param("y", AnyType(), keyword), Param("z", AnyType(), keyword))
    made = convert(LegacySpec("f", known, tree, given), Report())
    assert made is not None
    same(made, "def f(x: Tensor[b], *, y: _, z: Tensor[_, n]): ...")


def test_a_tuple_skips_defaults_that_are_not_passed() -> None:
    tree = row(axes({0: B}), axes({0: N}))
    made = converted(tree, "x y= z=", {"x": T1, "z": T1})
    same(made, "def f(x: Tensor[b], y=_, z: Tensor[n] = _): ...")
    same(converted(tree, "x y= z="), "def f(x: Tensor[b, ...], y: Tensor[n, ...] = _, z=_): ...")


@pytest.mark.parametrize("items", [1, 3])
def test_a_tuple_of_another_length(items: int) -> None:
    tree = row(*[axes({0: B})] * items)
    error = refused(tree, "x y", {"x": T1, "y": T1})
    assert error.code == "legacy-parameter"
    assert "gets 2" in error.message


def test_a_tuple_needs_a_signature() -> None:
    assert refused(row(axes({0: B})), None).code == "legacy-parameter"


def test_a_dict_needs_none() -> None:
    same(converted(named(x=axes({0: B}), y=row(B)), None), "def f(x: Tensor[b, ...], y: Tensor[b]): ...")


def test_unknown_parameters() -> None:
    error = refused(named(imgs=axes({0: B})), "img mask")
    assert (error.code, error.message) == ("legacy-parameter", "`f` has no parameter `imgs`")
    assert error.helps == ("did you mean `img`?",)
    assert refused(named(zzz=axes({0: B})), "img").helps == ("drop the key",)


def test_inputs_that_are_left_out_are_static() -> None:
    made = converted(named(x=axes({0: B})), "x y", {"x": T1, "y": T1})
    same(made, "def f(x: Tensor[b], y: _): ...")
    assert (made.verdict, made.notes[0].places, made.notes[0].taken) == (Verdict.CHOICE, ("y",), "static")


def test_variadic_parameters() -> None:
    given: Mapping[str, Input]
    given = {"x": T2, "extra": SequenceInput("tuple", (T1, T1)), "opts": MappingInput((("gate", T1), ("bias", T1)))}
    expected = 'def f(x: Tensor[n, _], *extra: [Tensor[n], _], **opts: {"gate": Tensor[n], "bias": _}): ...'
    extra = row(axes({0: N}), Unsaid())
    nested = named(x=axes({0: N}), extra=extra, opts=named(gate=axes({0: N}), bias=Unsaid()))
    same(converted(nested, "x *extra **opts", given), expected)
    flat = named(x=axes({0: N}), extra=extra, gate=axes({0: N}), bias=Unsaid())
    same(converted(flat, "x *extra **opts", given), expected)
    mixed = named(x=axes({0: N}), extra=extra, gate=axes({0: N}), opts=named(bias=Unsaid()))
    same(converted(mixed, "x *extra **opts", given), expected)
    by_position = row(axes({0: N}), extra, named(gate=axes({0: N}), bias=Unsaid()))
    same(converted(by_position, "x *extra **opts", given), expected)


def test_variadic_parameters_without_inputs() -> None:
    tree = named(extra=row(axes({0: N})), gate=row(N))
    same(converted(tree, "x *extra **opts"), 'def f(x, *extra: [Tensor[n, ...]], **opts: {"gate": Tensor[n]}): ...')
    # what *args collects is a sequence, whatever stands in it
    made = converted(named(extra=row(DYNAMIC)), "*extra")
    same(made, "def f(*extra: [Scalar[extra_0]]):\n    int extra_0 in [0, inf]")


def test_keywords_said_twice_or_unknown() -> None:
    given: Mapping[str, Input] = {"opts": MappingInput((("gate", T1),))}
    twice = named(gate=axes({0: N}), opts=named(gate=axes({0: N})))
    assert refused(twice, "**opts", given).code == "legacy-parameter"
    assert refused(named(gat=axes({0: N})), "**opts", given).code == "legacy-parameter"


def test_axes_at_the_top() -> None:
    source = Source("a.py", "{0: n}")
    error = refused(Entries(((0, N),), source.span(0, 6)), "x")
    assert error.code == "legacy-top-level"
    assert error.helps == ('did you mean `({0: n},)` or `{"x": {0: n}}`?',)
    said = axes({0: Derived(N, 2, -1), 1: Hinted(Hint.AUTO, 2), 2: row(Pinned(3)), 3: row(Unsaid(), kind="list")})
    assert refused(said, None).helps == ("did you mean `({0: 2*n - 1, 1: Dim.AUTO, 2: (3,), 3: [None]},)`?",)
    assert refused(B, "x").code == "legacy-top-level"


def test_what_is_nested_too_deeply() -> None:
    tree: Tree = axes({0: B})
    for _ in range(5000):
        tree = row(tree)
    assert refused(named(x=tree)).code == "input-too-large"


def test_the_notes_of_the_reader_come_first() -> None:
    note = Note(Verdict.LOSS, "legacy-loss", "something was lost")
    made = converted(named(x=axes({0: Named("b", 1)})), notes=(note,))
    assert made.notes[0] is note
    assert (made.verdict, made.summary) == (Verdict.LOSS, "a loss")


# ------------------------------------------------------------------------------------------ laws

_roots = st.sampled_from([Named("a"), Named("b", 1, 16), Named("h", 2, None), Named("w", 3, 8, 4)])
_dims = st.one_of(
    _roots,
    st.builds(Derived, _roots, st.integers(1, 16), st.integers(0, 3)),
    st.builds(Hinted, st.sampled_from(list(Hint)), st.none() | st.integers(0, 3), st.none() | st.integers(4, 9)),
    st.builds(Pinned, st.integers(0, 9)),
    st.just(Unsaid()),
)


@st.composite
def _said(draw: st.DrawFn, depth: int = 2) -> tuple[Tree, Input]:
    """Draws a tree, and an input that it fits."""
    kind = draw(st.sampled_from(["axes", "row", "int", "list", "dict", "object"][: 6 if depth else 3]))
    if kind == "axes":
        rank = draw(st.integers(1, 3))
        return axes(draw(st.dictionaries(st.integers(0, rank - 1), _dims))), TensorInput(rank)
    if kind == "row":
        dims = draw(st.lists(_dims, max_size=3))
        return row(*dims), TensorInput(len(dims))
    if kind == "int":
        hint = st.builds(Hinted, st.sampled_from(list(Hint)))
        return draw(hint | st.builds(Pinned, st.integers(0, 9))), IntInput()
    inner = draw(st.lists(_said(depth - 1), min_size=1, max_size=3))
    trees, inputs = zip(*inner, strict=True)
    if kind == "list":
        return row(*trees, kind="list"), SequenceInput("list", inputs)
    if kind == "dict":
        keys: list[str | int] = list(draw(st.sampled_from([("k", "v w", 7), (0, 1, 2)])))
        pairs = zip(keys, trees, strict=False), zip(keys, inputs, strict=False)
        return Entries(tuple(pairs[0])), MappingInput(tuple(pairs[1]))
    fields = ("h", "c", "z")
    return row(*trees, kind="list"), ObjectInput("State", tuple(zip(fields, inputs, strict=False)))


@given(st.lists(_said(), min_size=1, max_size=3), st.booleans())
def test_what_is_converted_can_be_written_and_read(said: list[tuple[Tree, Input]], by_name: bool) -> None:
    names: tuple[str, ...] = ("x", "y", "z")[: len(said)]
    trees = [tree for tree, _ in said]
    top = named(**dict(zip(names, trees, strict=True))) if by_name else row(*trees)
    inputs: dict[str, Input] = dict(zip(names, (each for _, each in said), strict=True))
    made = converted(top, " ".join(names), inputs)
    module = sd.loads(text(made))
    assert module["f"].signature == made.signature
    assert write_module(Module((made.signature,))) == str(module)


_keys: st.SearchStrategy[str | int] = st.sampled_from(["x", "y", "rest", "k", "in", 0, 1, -1, 5])
_any_dims = st.one_of(
    _dims,
    st.builds(Named, st.sampled_from(["a", "_", "b c", "x_0"]), st.none() | st.integers(-2, 9), st.none() | st.just(4)),
    st.builds(
        Derived, st.builds(Named, st.just("a"), st.none() | st.integers(0, 3)), st.integers(1, 3), st.integers(-4, 4)
    ),
)


def _containers(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def entries(said: dict[str | int, Tree]) -> Tree:
        return Entries(tuple(said.items()))

    def items(kind: Literal["list", "tuple", "namedtuple"], said: list[Tree]) -> Tree:
        return Items(kind, tuple(said), ("h", "c", "z")[: len(said)] if kind == "namedtuple" else ())

    kinds: st.SearchStrategy[Literal["list", "tuple", "namedtuple"]] = st.sampled_from(["list", "tuple", "namedtuple"])
    return st.one_of(
        st.builds(entries, st.dictionaries(_keys, inner, max_size=3)),
        st.builds(items, kinds, st.lists(inner, max_size=3)),
    )


def _structures(inner: st.SearchStrategy[Input]) -> st.SearchStrategy[Input]:
    def mapping(said: dict[str | int, Input]) -> Input:
        return MappingInput(tuple(said.items()))

    def sequence(said: list[Input]) -> Input:
        return SequenceInput("list", tuple(said))

    def instance(said: list[Input], has_names: bool, is_named: bool) -> Input:
        names = "hcz" if has_names or is_named else (None,) * 3
        return ObjectInput("C", tuple(zip(names, said, strict=False)), is_named)

    few = st.lists(inner, max_size=3)
    return st.one_of(
        st.builds(mapping, st.dictionaries(_keys, inner, max_size=3)),
        st.builds(sequence, few),
        st.builds(instance, few, st.booleans(), st.booleans()),
    )


def _tensor(sizes: list[int | None]) -> Input:
    return TensorInput(len(sizes), tuple(sizes))


_any_trees = st.recursive(cast("st.SearchStrategy[Tree]", _any_dims), _containers, max_leaves=8)
_any_inputs = st.recursive(
    st.one_of(
        st.builds(TensorInput, st.none() | st.integers(0, 3)),
        st.builds(_tensor, st.lists(st.none() | st.integers(0, 9), max_size=3)),
        st.builds(IntInput, st.none() | st.integers(-3, 3)),
        st.just(OtherInput("float")),
        st.just(UnknownInput()),
    ),
    _structures,
    max_leaves=5,
)


@given(
    _any_trees,
    st.sampled_from([None, "x", "x y=", "x *rest", "x **rest"]),
    st.none() | st.dictionaries(st.sampled_from(["x", "y", "rest"]), _any_inputs),
)
@settings(max_examples=150)
def test_whatever_is_said_gives_a_spec_or_an_error(
    tree: Tree, signature: str | None, inputs: Mapping[str, Input] | None
) -> None:
    report = Report()
    known = None if signature is None else params(signature)
    made = convert(LegacySpec("f", known, tree, inputs), report)
    assert (made is None) == bool(report.errors)
    if made is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sd.ShapeWarning)  # of names that happen to be alike
            assert sd.loads(text(made))["f"].signature == made.signature
