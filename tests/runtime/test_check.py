"""`check`: what it lets through, what it refuses, and what it says."""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict
from typing import Any, NamedTuple

import pytest

from shapedsl.diagnostics import ShapeError
from shapedsl.runtime.check import checker
from tests.runtime.fakes import TENSORS, FakeTensor, signature

T = FakeTensor
PROJECT = """
dim B in [0, 1024]
def project(x: Tensor[B, D], w: Tensor[D, D]):
    where B < 32 "the fast path is for small batches"
"""


def check(text: str, *args: Any, **kwargs: Any) -> None:
    checker(signature(text), TENSORS)(*args, **kwargs)


def refused(text: str, *args: Any, **kwargs: Any) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        check(text, *args, **kwargs)
    return caught.value


def message(text: str, *args: Any, **kwargs: Any) -> str:
    return refused(text, *args, **kwargs).diagnostics[0].message


def test_what_fits_passes() -> None:
    check(PROJECT, T(0, 3), T(3, 3))
    check(PROJECT, w=T(3, 3), x=T(31, 3))


def test_a_violation_names_place_sizes_line_and_message() -> None:
    error = refused(PROJECT, T(40, 3), T(3, 3))
    assert error.code == "shape-violation"
    assert error.witness == {"B": 40, "D": 3}
    (found,) = error.diagnostics
    assert found.message == "`x.shape[0]` is 40, expected `B < 32`: the fast path is for small batches"
    assert found.span is not None
    assert found.span.text == "B < 32"
    assert found.notes == ("`B` is 40, from `x.shape[0]`",)


def test_every_violated_assumption_is_told() -> None:
    messages = [found.message for found in refused(PROJECT, T(2000, 3), T(3, 3)).diagnostics]
    assert messages == [
        "`x.shape[0]` is 2000, expected `B <= 1024`",
        "`x.shape[0]` is 2000, expected `B < 32`: the fast path is for small batches",
    ]


def test_sizes_that_disagree() -> None:
    error = refused(PROJECT, T(4, 3), T(5, 3))
    assert error.diagnostics[0].message == "`w.shape[0]` is 5, expected `D` = 3"
    assert error.diagnostics[0].notes == ("`D` is 3, from `x.shape[1]`",)


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("def f(x: Tensor[3]): ...", (T(4),), "`x.shape[0]` is 4, expected 3"),
        ("def f(x: Tensor[2 * B + 1]): ...", (T(8),), "`x.shape[0]` is 8, expected `2 * B + 1` for some `B`"),
        ("def f(x: Tensor[B], y: Tensor[2 * B]): ...", (T(3), T(7)), "`y.shape[0]` is 7, expected `2 * B` = 6"),
        ("def f(x: Tensor[B // 2], y: Tensor[B]): ...", (T(4), T(7)), "`x.shape[0]` is 4, expected `B // 2` = 3"),
        ("def f(x: Tensor[B, S]):\n    where B <= S", (T(4, 3),), "`B` is 4 and `S` is 3, expected `B <= S`"),
        ("def f(x: Tensor[B], n: Scalar[2 * B]): ...", (T(4), 9), "`n` is 9, expected `2 * B` = 8"),
        (
            "def f(x: Tensor[A], y: Tensor[B]):\n    where (A // B) > 1",
            (T(4), T(0)),
            "`A // B > 1` divides by 0",
        ),
        (
            "def f(x: Tensor[20 - B], y: Tensor[B]):\n    where B >= 0",
            (T(0), T(21)),
            "`x.shape[0]` is 0, expected `20 - B` = -1",
        ),
    ],
)
def test_headlines(text: str, args: tuple[object, ...], expected: str) -> None:
    found = message(text, *args).replace("(A // B)", "A // B")
    assert found == expected


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        # floor division and remainder are Python's, of negative numbers too
        ("int n\ndef f(n: Scalar[n]):\n    where n // 2 == -2", [-4, -3], [-2, 4]),
        ("int n\ndef f(n: Scalar[n]):\n    where n % 3 == 1", [-2, 1, 4], [-1, 0]),
        ("int n\ndef f(n: Scalar[n]):\n    where cdiv(n, 4) == 2", [5, 8], [4, 9]),
        ("int n\ndef f(n: Scalar[n]):\n    where min(n, 5, 9) == 5, max(n, 0) < 7", [5, 6], [4, 7]),
        ("int n\ndef f(n: Scalar[n]):\n    where n**2 == 9", [3, -3], [2]),
        ("int n\ndef f(n: Scalar[n]):\n    where n in {1, 2, 4} or -n > 8", [1, 4, -9], [3, -8]),
        ("int n\ndef f(n: Scalar[n]):\n    where not (n < 3 and n > 0)", [0, 3], [1, 2]),
        ("int n\ndef f(n: Scalar[n]):\n    where n not in [1, 2]", [0, 3], [1, 2]),
        ("dim n in [8, 64] multiple of 8 plus 3\ndef f(n: Scalar[n]): ...", [11, 59], [3, 8, 67]),
        # short-circuit: the divisor is 0 only where it is not looked at
        ("int n\ndef f(n: Scalar[n]):\n    where n == 0 or 12 % n == 0", [0, 3, -4], [5]),
    ],
)
def test_operators_mean_what_python_means(text: str, good: list[int], bad: list[int]) -> None:
    for value in good:
        check(text, value)
    for value in bad:
        assert refused(text, value).code == "shape-violation"


def test_solved_in_any_order() -> None:
    text = "def f(a: Tensor[A + 2 * B], b: Tensor[3 * B - 1], c: Tensor[A]): ..."
    check(text, T(1 + 2 * 4), T(11), T(1))
    assert message(text, T(11), T(11), T(1)) == "`b.shape[0]` is 11, expected `3 * B - 1` = 14"
    assert message(text, T(10), T(11), T(1)) == "`a.shape[0]` is 10, expected `A + 2 * B` for some `B`"


def test_systems_of_dims() -> None:
    text = "dim A, B\ndef f(x: Tensor[A + B], y: Tensor[A - B], z: Tensor[A * B]):\n    where B >= 1"
    check(text, T(7), T(3), T(10))
    assert message(text, T(7), T(2), T(0)) == (
        "`x.shape[0]` is 7 and `y.shape[0]` is 2, expected `A + B` and `A - B` for some `A`"
    )
    assert message(text, T(7), T(7), T(0)) == "`B` is 0, expected `B >= 1`"
    assert message(text, T(7), T(3), T(11)) == "`z.shape[0]` is 11, expected `A * B` = 10"
    assert message("def f(x: Tensor[2 * N], y: Tensor[3 * N]): ...", T(4), T(9)) == (
        "`y.shape[0]` is 9, expected `3 * N` = 6"
    )


def test_dtypes() -> None:
    text = "type F = floating\ndef f(x: F[B], y: F[B], i: int64[B], z: float32): ..."
    ok = (T(1), T(1), T(1, dtype="int64"), T(1, 2, 3))
    check(text, *ok)
    check(text, T(1, dtype="float16"), T(1, dtype="float16"), *ok[2:])
    mixed = refused(text, T(1), T(1, dtype="float16"), *ok[2:])
    assert (mixed.code, mixed.diagnostics[0].message) == ("dtype-mismatch", "`y` is float16, expected `F` = float32")
    other = refused(text, T(1, dtype="int64"), T(1), *ok[2:])
    assert other.diagnostics[0].message == "`x` is int64, expected floating"
    assert refused(text, ok[0], ok[1], T(1), ok[3]).diagnostics[0].message == "`i` is float32, expected int64"
    assert refused(text, *ok[:3], T(1, dtype="int64")).diagnostics[0].message == "`z` is int64, expected float32"


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 2**63, -(2**63) - 1])
def test_a_scalar_is_a_python_int(value: object) -> None:
    assert refused("int n\ndef f(n: Scalar[n]): ...", value).code == "type-mismatch"


def test_the_ends_of_int64_are_ints() -> None:
    check("int n\ndef f(n: Scalar[n]): ...", 2**63 - 1)
    check("int n\ndef f(n: Scalar[n]): ...", -(2**63))


def test_a_numpy_int_is_not_a_python_int() -> None:
    numpy = pytest.importorskip("numpy", reason="compares with numpy's ints")
    assert message("def f(n: Scalar[n]): ...", numpy.int64(3)) == "`n` is a numpy.int64, expected a Python int"


def test_missing_and_surplus_arguments_are_pythons_errors() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'w'"):
        check(PROJECT, T(1, 2))
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        check(PROJECT, T(1, 2), T(2, 2), None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        check(PROJECT, T(1, 2), T(2, 2), y=1)


def test_kinds_of_parameters() -> None:
    text = "def f(x: Tensor[B], /, y: Tensor[B], *, z: Tensor[B] = _): ..."
    check(text, T(2), T(2))
    check(text, T(2), y=T(2), z=T(2))
    with pytest.raises(TypeError):
        check(text, x=T(2), y=T(2))
    assert message(text, T(2), T(2), z=T(3)) == "`z.shape[0]` is 3, expected `B` = 2"


def test_variadic_parameters() -> None:
    text = 'def f(x: Tensor[B], *args: Tensor[B], **kwargs: {"k": Tensor[B]}): ...'
    check(text, T(2), T(2), T(2), k=T(2))
    assert message(text, T(2), T(2), T(3), k=T(2)) == "`args[1].shape[0]` is 3, expected `B` = 2"
    assert message(text, T(2), k=T(3)) == '`kwargs["k"].shape[0]` is 3, expected `B` = 2'


class Pair(NamedTuple):
    left: object
    right: object


class Config(dict[str, object]):
    pass


def test_containers() -> None:
    text = 'def f(p: Pair(left: Tensor[B]), t: (Tensor[B], _), d: {"k": Tensor[B], 0: Tensor[B] | None}): ...'
    pair = Pair(T(2), None)
    for mapping in ({"k": T(2)}, OrderedDict(k=T(2)), Config(k=T(2)), UserDict(k=T(2)), {"k": T(2), 0: T(2)}):
        check(text, pair, pair, mapping)
    assert message(text, pair, pair, {"k": T(2), 0: T(3)}) == "`d[0].shape[0]` is 3, expected `B` = 2"
    assert message(text, pair, [T(2)], {"k": T(2)}) == "`t` has length 1, expected 2"
    assert message(text, None, pair, {"k": T(2)}) == "`p` is None, which has no attribute `left`"
    assert message(text, pair, pair, T(2)).startswith("`d` is a tests.runtime.fakes.FakeTensor")
    empty: defaultdict[str, object] = defaultdict(lambda: T(2))
    assert message(text, pair, pair, empty) == '`d` has no key `"k"`'
    assert not empty


def test_static_parts_are_ignored() -> None:
    check("def f(x: Tensor[B, _], y, z: _, s: Tensor): ...", T(1, 2), object(), None, T(4, 5, 6))
    assert message("def f(s: Tensor): ...", 3) == "`s` is an int, expected a tensor"


def test_structure_may_change_from_call_to_call() -> None:
    run = checker(
        signature("def f(x: Tensor[*b, D], m: Tensor[D] | None = _, k: [Tensor[D] | None, ...] = _): ..."), TENSORS
    )
    run(T(5))
    run(T(2, 3, 5), T(5))
    run(T(2, 5), None, [T(5), None])
    run(T(2, 5), None, [None, None, T(5)])
    for args in [(T(5), T(6)), (T(2, 5), None, [None, T(4)]), (T(), None), (T(1), 3), (T(1), None, 3)]:
        with pytest.raises(ShapeError):
            run(*args)
    run(T(5))


def test_a_tensor_subclass_is_a_tensor() -> None:
    class Sub(FakeTensor):
        pass

    check(PROJECT, Sub(2, 3), Sub(3, 3))


def test_an_error_of_the_arguments_own_is_not_hidden() -> None:
    class Broken:
        @property
        def x(self) -> object:
            raise RuntimeError("the user's own")

    with pytest.raises(RuntimeError, match="the user's own"):
        check("def f(g: Broken(x: Tensor[B])): ...", Broken())


# Names that generated code could trip over.
@pytest.mark.parametrize(
    "name", ["_target", "isinstance", "_s_", "_s_isinstance", "Exception", "f", "type", "len", "self", "_s_f"]
)
def test_parameters_may_have_any_name(name: str) -> None:
    text = f"def f({name}: Tensor[B], other: Scalar[2 * B]): ..."
    check(text, T(2), 4)
    check(text, **{name: T(2)}, other=4)
    assert message(text, T(2), 5) == "`other` is 5, expected `2 * B` = 4"


@pytest.mark.parametrize("name", ["lambda", "class", "_target", "None_", "import", "B"])
def test_dims_may_have_any_name(name: str) -> None:
    text = f"def f(x: Tensor[{name}], y: Tensor[2 * {name}]):\n    where {name} < 9"
    check(text, T(2), T(4))
    assert message(text, T(9), T(18)) == f"`x.shape[0]` is 9, expected `{name} < 9`"


def test_a_parameter_called_like_a_keyword_is_passed_by_position() -> None:
    check("def f(lambda: Tensor[B], class: Tensor[B]): ...", T(2), T(2))
    assert message("def f(lambda: Tensor[B], class: Tensor[B]): ...", T(2), T(3)).startswith("`class.shape[0]` is 3")


def test_the_callables_own_parameters_decide_where_the_spec_lists_some() -> None:
    import inspect

    def target(config: object, x: object, *, scale: float = 1.0) -> None: ...

    run = checker(signature("def target(x: Tensor[B, 4]): ..."), TENSORS, inspect.signature(target))
    run(None, T(2, 4), scale=2.0)
    with pytest.raises(ShapeError):
        run(None, T(2, 5))


def test_an_argument_that_changes_while_it_is_read_leaks_no_internal_error() -> None:
    class Batch:
        def __init__(self) -> None:
            self.reads = 0

        @property
        def n(self) -> int:
            self.reads += 1
            return 3 if self.reads == 1 else 2

    with pytest.raises(ShapeError, match="an argument changes while it is read"):
        check("def f(b: object(n: Scalar[2])): ...", Batch())
