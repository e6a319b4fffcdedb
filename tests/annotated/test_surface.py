"""The objects of annotations, unread: texts, operators, unions, isinstance, cost, what importing them loads."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: SIM300, UP007, UP045

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import timeit
import typing
from collections.abc import Callable
from typing import Literal, Optional, TypeVar, Union

import pytest

import shapedsl.dims
from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.dims import B, D, batch, cdiv, prod
from shapedsl.dtypes import floating, int64, long
from shapedsl.surface.facts import facts_of
from shapedsl.surface.symbols import Symbol

L = Literal


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (2 * B + 1, "2 * B + 1"),
        ((B + D) * 2, "(B + D) * 2"),
        (B - (D - 1), "B - (D - 1)"),
        (B - D - 1, "B - D - 1"),
        (B // 2 % 3, "B // 2 % 3"),
        (B // (D * 2), "B // (D * 2)"),
        (-B, "-B"),
        (-(B + 1), "-(B + 1)"),
        (-(B**2), "-B**2"),
        ((-B) ** 2, "(-B)**2"),
        (2**B, "2**B"),
        (B ** (D + 1), "B**(D + 1)"),
        (B * -1, "B * -1"),
        (3 - B, "3 - B"),
        (7 // B, "7 // B"),
        (7 % B, "7 % B"),
        (B / 2, "B / 2"),
        (cdiv(B + 1, 8), "cdiv(B + 1, 8)"),
        (prod(*batch) * 2, "prod(*batch) * 2"),
    ],
)
def test_operators_write_the_languages_text(size: Symbol, text: str) -> None:
    assert size.text == text


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (B < 32, "B < 32"),
        (0 <= B, "B >= 0"),
        (32 > B, "B < 32"),
        (B == D, "B == D"),
        (B != 2 * D, "B != 2 * D"),
        ((B < 3) & (D > 2), "B < 3 and D > 2"),
        ((B < 3) | (D > 2) & (B > 1), "B < 3 or D > 2 and B > 1"),
        (((B < 3) | (D > 2)) & (B > 1), "(B < 3 or D > 2) and B > 1"),
        (~(B == 3), "not B == 3"),
        (~((B == 3) | (D == 3)), "not (B == 3 or D == 3)"),
        (~(B == 3) & (D == 3), "not B == 3 and D == 3"),
    ],
)
def test_predicates_write_the_languages_text(predicate: object, text: str) -> None:
    assert repr(predicate) == text


@pytest.mark.parametrize(
    "claim",
    [
        lambda: 0 <= B <= 1024,
        lambda: B > 0 and D > 0,
        lambda: not B > 0,
        lambda: min(B, D) <= 3,
        lambda: max(B, 3) <= 3,
        lambda: B in (D, 3),
    ],
)
def test_a_claim_has_no_truth_and_the_error_shows_what_to_write(claim: typing.Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r'where\("0 <= B <= 1024"\)'):
        claim()


@pytest.mark.parametrize("size", [lambda: B and D, lambda: D or 3, lambda: not B, lambda: 3 if B else 4])  # type: ignore[truthy-function]
def test_a_size_has_no_truth_either(size: typing.Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"`[BD]` is a size .* neither true nor false"):
        size()


def test_where_refuses_what_python_decided_itself() -> None:
    with pytest.raises(TypeError, match="Python decided"):
        where(B in {2, 4})
    with pytest.raises(TypeError, match="not 3"):
        where(3)


def test_any_name_can_be_imported_and_is_the_same_object() -> None:
    from shapedsl.dims import a_name_nobody_thought_of, lambda_  # type: ignore[attr-defined, unused-ignore]

    assert (repr(a_name_nobody_thought_of), repr(lambda_)) == ("a_name_nobody_thought_of", "lambda_")
    assert shapedsl.dims.B is B
    with pytest.raises(AttributeError):
        _ = shapedsl.dims.__path__


T = TypeVar("T")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Tensor, "Tensor"),
        (Tensor[B, D], "Tensor[B, D]"),
        (Tensor["B", "D"], "Tensor[B, D]"),
        (Tensor["B, D"], "Tensor[B, D]"),
        (Tensor[B, L["2*B+1"], L[3], L["_"]], "Tensor[B, 2*B+1, 3, _]"),
        (Tensor[B, 2 * B + 1, 3, None, ...], "Tensor[B, 2 * B + 1, 3, _, ...]"),
        (Tensor.__getitem__((*batch, D)), "Tensor[*batch, D]"),
        (Tensor[()], "Tensor[()]"),
        (Tensor[T, 2], "Tensor[T, 2]"),
        (Scalar[2 * B], "Scalar[2 * B]"),
        (int64[B], "int64[B]"),
        (long[B], "int64[B]"),
        (floating, "floating"),
        (Shape["B", "D"], "Shape[B, D]"),
    ],
)
def test_forms_keep_their_items_and_spell_them(form: object, text: str) -> None:
    assert repr(form) == text


def test_forms_are_equal_by_text() -> None:
    assert Tensor[B, D] == Tensor["B", "D"]
    assert hash(Tensor[B, D]) == hash(Tensor["B, D"])
    assert Tensor[B] != Tensor[D]
    assert Tensor[B] != int64[B]
    assert Tensor != Tensor[()]


def test_forms_are_refused_where_they_make_no_sense() -> None:
    with pytest.raises(TypeError, match="annotation"):
        Tensor[B](3)
    with pytest.raises(TypeError, match="already"):
        Tensor[B][D]
    with pytest.raises(TypeError, match=r"spec\.check"):
        isinstance(3, Tensor[B])


def test_forms_stand_in_unions() -> None:
    for union in (Tensor[B] | None, None | Tensor[B], Optional[Tensor[B]], Union[Tensor[B], None]):
        assert set(typing.get_args(union)) == {Tensor[B], type(None)}
    assert Optional[Tensor[B]] == Optional[Tensor["B"]]


def test_forms_and_sizes_can_be_copied_and_pickled() -> None:
    for thing in (Tensor[B, D], int64, Tensor):
        assert pickle.loads(pickle.dumps(thing)) == thing == copy.deepcopy(thing)
    assert repr(pickle.loads(pickle.dumps(2 * B + 1))) == "2 * B + 1"
    assert repr(pickle.loads(pickle.dumps(2 * B + 1)) * 3) == "(2 * B + 1) * 3"


def test_isinstance_tests_torchs_tensor() -> None:
    torch = pytest.importorskip("torch", reason="there is no tensor without torch")
    assert isinstance(torch.zeros(2), Tensor)
    assert not isinstance(3, Tensor)
    assert isinstance(torch.zeros(2), floating)
    assert not isinstance(torch.zeros(2), int64)
    assert isinstance(torch.zeros(2, dtype=torch.int64), int64)
    assert issubclass(torch.nn.Parameter, Tensor)
    assert isinstance(3, Scalar)
    assert not isinstance(True, Scalar)


def test_every_dtype_of_the_language_has_a_name() -> None:
    import shapedsl.dtypes
    from shapedsl.ir.dtypes import ALIASES, DTYPES, FAMILIES

    assert set(shapedsl.dtypes.__all__) == {*DTYPES, *FAMILIES, *ALIASES}
    assert {name: getattr(shapedsl.dtypes, name).name for name in ALIASES} == ALIASES


def test_decorators_return_the_same_object_and_note_what_was_said() -> None:
    def project(x: object, w: object) -> object:
        return x, w

    decorated = shapes(hints={"B": 8}, x="B, D", consts={"D": 64})(where(0 <= B, "B < 32")(project))
    assert decorated is project
    facts = facts_of(project)
    assert facts is not None
    assert (facts.hints, facts.params, facts.consts) == ({"B": 8}, {"x": "B, D"}, {"D": 64})
    assert facts.wheres == ["B >= 0", "B < 32"]
    assert facts.shapes
    assert "_dynamic_spec" in vars(project)


def test_decorators_work_in_either_order_and_where_alone_attaches() -> None:
    def one(x: object) -> object:
        return x

    def two(x: object) -> object:
        return x

    def three(x: object) -> object:
        return x

    shapes(where(B > 0)(where(B < 32)(one)))
    where(B > 0)(where(B < 32)(shapes(two)))
    where(B > 0)(where(B < 32)(three))
    read = [facts_of(function) for function in (one, two, three)]
    assert [facts and facts.wheres for facts in read] == [["B > 0", "B < 32"]] * 3
    assert [facts and facts.shapes for facts in read] == [True, True, False]
    assert all("_dynamic_spec" in vars(function) for function in (one, two, three))


def test_attach_false_only_describes() -> None:
    for decorate in (
        lambda f: shapes(attach=False)(where(B > 0)(f)),
        lambda f: where(B > 0)(shapes(attach=False)(f)),
    ):

        def f(x: object) -> object:
            return x

        decorate(f)
        assert facts_of(f) is not None
        assert "_dynamic_spec" not in vars(f)


def test_decorators_refuse_what_they_cannot_write_on() -> None:
    with pytest.raises(TypeError, match="decorate functions"):
        shapes(len)

    class Empty:
        pass

    with pytest.raises(TypeError, match="defines no forward"):
        shapes(Empty)


def test_importing_the_surface_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from shapedsl.annotations import Tensor, shapes, where\n"
        "from shapedsl.dims import B\nfrom shapedsl.dtypes import int64\n"
        "@shapes(hints={'B': 8})\n@where(B < 32)\ndef f(x: Tensor[B, 'D'], y: int64[B] ): ...\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('shapedsl')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__"]


def test_decorating_costs_less_than_20_microseconds() -> None:
    def make() -> typing.Callable[..., object]:
        def f(x: object) -> object:
            return x

        return f

    def decorate() -> object:
        return shapes(hints={"B": 8, "D": 64})(where(0 <= B, B <= 1024, B < 32)(make()))

    best = min(timeit.repeat(decorate, number=50, repeat=100)) / 50  # the others were disturbed
    assert best < 20e-6


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: B < 3 & D > 2, r"where\(\(B < 3\) & \(D > 2\)\)"),
        (lambda: (B < 3) & D, "is no predicate"),
        (lambda: B | (D > 2), r"\|"),
        (lambda: (B < 3) ^ (D > 2), "there is no `\\^`"),
        (lambda: B < 3.5, "compared with an int or a size"),
        (lambda: B >= "3", "compared with an int or a size"),
        (lambda: abs(B), r"no abs\(\)"),
        (lambda: divmod(B, 2), r"no divmod\(\)"),
        (lambda: 1 << B, "no `<<`"),
        (lambda: ~B, "negates a predicate"),
        (lambda: D in B, "a size has no members"),
        (where, "states nothing"),
        (lambda: where(lambda x: x), "where needs its predicates"),
    ],
)
def test_what_python_has_and_sizes_have_not(make: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make()


def test_sizes_beside_their_names_in_a_dict() -> None:
    assert {B: 1, "B": 2}["B"] == 2  # equal hashes: the keys are compared
