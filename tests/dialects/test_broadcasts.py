"""A size that is 1 or another size is checked, and is never lowered: not in any form that it may take on the way."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="empty-body,misc,name-defined,type-arg,unused-ignore,untyped-decorator,valid-type,attr-defined"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import shapedsl as sd

torch = pytest.importorskip("torch", reason="what is refused is refused on the way to torch")
jaxtyping = pytest.importorskip("jaxtyping", reason="its `#b` is what is refused")


def add(x: Any, y: Any) -> Any:
    return x + y


add.__annotations__ = {
    "x": jaxtyping.Float[torch.Tensor, "b d"],
    "y": jaxtyping.Float[torch.Tensor, "#b d"],
    "return": jaxtyping.Float[torch.Tensor, "b d"],
}


def spec() -> sd.Spec:
    found = sd.spec_of(add)
    assert found is not None
    return found


def refusal(lowered: Callable[[], object]) -> sd.ShapeError:
    with pytest.raises(sd.ShapeError) as caught:
        lowered()
    assert caught.value.code == "unsupported-by-torch", str(caught.value)
    return caught.value


def test_what_it_means() -> None:
    assert (
        spec()
        == sd.loads(
            "def add(x: floating[b, d], y: floating[b_or_1, d]) -> floating[b, d]:\n"
            "    where b_or_1 == 1 or b_or_1 == b"
        )["add"]
    )


def test_check_takes_both() -> None:
    for rows in (3, 1):
        spec().check(torch.zeros(3, 4), torch.zeros(rows, 4))
    with pytest.raises(sd.ShapeError) as caught:
        spec().check(torch.zeros(3, 4), torch.zeros(2, 4))
    assert caught.value.code == "shape-violation"


def test_the_message_points_to_the_dim_and_says_what_to_write() -> None:
    error = refusal(spec().to_torch)
    (diagnostic,) = error.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.text == "#b"
    assert "`b_or_1` is 1 or `b`" in diagnostic.message
    assert [text for text in diagnostic.helps if "write `b`" in text]
    assert [text for text in diagnostic.helps if "case" in text]


@pytest.mark.parametrize(
    "form",
    [
        lambda s: s,
        lambda s: s.normalize(),
        lambda s: s.normalize().normalize(),
        lambda s: sd.loads(str(s))["add"],
        lambda s: sd.loads(str(s.normalize()))["add"],
        lambda s: sd.from_json(s.to_json()),
        lambda s: sd.from_json(s.normalize().to_json()),
        lambda s: sd.loads(f"{s}, b == 4")["add"],
        lambda s: sd.loads(f"{s}, b == 4")["add"].normalize(),
        lambda s: sd.loads(f"{s}, b >= 5, b <= 9")["add"].normalize(),
        lambda s: sd.loads(f"{s}, b_or_1 <= 7")["add"].normalize(),
        lambda s: sd.loads(f"{s}, b != 1")["add"].normalize(),
        lambda s: sd.loads(f"{s}, b_or_1 in {{1, 7}}")["add"].normalize(),
    ],
)
def test_no_form_of_it_is_lowered(form: Callable[[sd.Spec], sd.Spec]) -> None:
    refusal(form(spec()).to_torch)


@pytest.mark.parametrize(
    "entry",
    [
        lambda: sd.compile(add, backend="eager")(torch.zeros(3, 4), torch.zeros(3, 4)),
        lambda: sd.compile(add, backend="eager")(torch.zeros(3, 4), torch.zeros(1, 4)),
        lambda: sd.export(add, (torch.zeros(3, 4), torch.zeros(3, 4))),
        lambda: sd.make_fx(add)(torch.zeros(3, 4), torch.zeros(3, 4)),
    ],
)
def test_no_entry_point_takes_it(entry: Callable[[], object]) -> None:
    refusal(entry)


def test_torch_is_not_handed_it_through_the_attached_spec() -> None:
    def attached(x: Any, y: Any) -> Any:
        return x + y

    attached.__annotations__ = dict(add.__annotations__)
    attached = sd.shapes(attached)
    refusal(lambda: torch.compile(attached, backend="eager")(torch.zeros(3, 4), torch.zeros(3, 4)))


def test_pairs_without_a_name_of_their_own_are_refused() -> None:
    add_ = dict.fromkeys(("x", "y"), jaxtyping.Float[torch.Tensor, "#b"])

    def both(x: Any, y: Any) -> Any: ...

    both.__annotations__ = add_
    found = sd.spec_of(both)
    assert (
        found
        == sd.loads(
            "def both(x: floating[b_or_1], y: floating[b_or_1_2]):\n"
            "    where b_or_1 == 1 or b_or_1_2 == 1 or b_or_1 == b_or_1_2"
        )["both"]
    )
    assert found is not None
    refusal(found.to_torch)
    refusal(found.normalize().to_torch)


def test_one_alone_is_any_size() -> None:
    def one(x: Any) -> Any: ...

    one.__annotations__ = {"x": jaxtyping.Float[torch.Tensor, "#b 3"]}
    found = sd.spec_of(one)
    assert found == sd.loads("def one(x: floating[b, 3]): ...")["one"]


def test_one_alone_of_a_constant() -> None:
    def one(x: Any) -> Any: ...

    one.__annotations__ = {"x": jaxtyping.Float[torch.Tensor, "#b"]}
    assert (
        sd.spec_of(sd.shapes(consts={"b": 4})(one))
        == sd.loads("def one(x: floating[b_or_1]):\n    where b_or_1 == 1 or b_or_1 == 4")["one"]
    )


def test_one_alone_of_a_static_size_is_that_size() -> None:
    def one(x: Any) -> Any: ...

    one.__annotations__ = {"x": jaxtyping.Float[torch.Tensor, "#b"]}
    assert (
        sd.spec_of(sd.shapes(consts={"b": None})(one)) == sd.loads("def one(x: floating[b]):\n    const b = _")["one"]
    )


def test_a_constant_of_the_class() -> None:
    @sd.shapes("let b = 2 * c")
    class Net(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any: ...

    Net.forward.__annotations__ = {name: jaxtyping.Float[torch.Tensor, t] for name, t in (("x", "#b"), ("y", "c"))}
    assert (
        sd.spec_of(Net())
        == sd.loads("def f(x: floating[b_or_1], y: floating[c]):\n    where b_or_1 == 1 or b_or_1 == 2 * c")["f"]
    )


def test_the_cure_works() -> None:
    """Two cases, each lowered by its name: what the message says to write."""
    cured = sd.loads(f"{spec()}\n    case one: b_or_1 == 1\n    case same: b_or_1 == b\n")["add"]
    for case, rows in (("one", 1), ("same", 3)):
        program = sd.export(add, (torch.zeros(3, 4), torch.zeros(rows, 4)), spec=cured.normalize(), case=case)
        for size in (2, 5):
            x, y = torch.ones(size, 4), torch.ones(1 if case == "one" else size, 4)
            assert torch.equal(program.module()(x, y), x + y)


def test_what_decides_it_lets_it_through() -> None:
    for also in ("b_or_1 >= 2", "b_or_1 == b", "b_or_1 == 1", "b == 1"):
        sd.loads(f"{spec()}, {also}")["add"].to_torch()


def test_another_choice_of_sizes_is_not_refused() -> None:
    sd.loads("def f(x: Tensor[B]):\n    where B in {1, 4}")["f"].to_torch()
    sd.loads("def f(x: Tensor[B], y: Tensor[D]):\n    where B == 1 or D == 1")["f"].to_torch()
