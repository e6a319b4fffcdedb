"""A subclass that overrides ``forward`` keeps the base's spec where its parameters are the same, and is told where not."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="arg-type,attr-defined,empty-body,misc,name-defined,no-untyped-call,no-untyped-def,override,unused-ignore,valid-type"
# ruff: noqa: F821, UP037

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any

import pytest

torch = pytest.importorskip("torch", reason="modules are torch's")

import shapedsl as sd
from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D

nn = torch.nn


class Base(nn.Module):
    @shapes("where B < 32", hints={"B": 8})
    def forward(self, x: Tensor[B, D], scale: float = 1.0) -> Tensor[B, D]:
        return x * scale

    @shapes
    def encode(self, x: Tensor[B, 3]):
        return x


class Inherits(Base):
    pass


class Silent(Base):
    def forward(self, x, scale=1.0):
        return super().forward(x, scale) + 1

    def encode(self, x):
        return x + 1


class Deeper(Silent):
    def forward(self, x: torch.Tensor, scale: float = 2.0, verbose: bool = False) -> torch.Tensor:
        return super().forward(x, scale) * 2


class Own(Base):
    def forward(self, x: Tensor["N", 5], scale: float = 1.0):
        return super().forward(x, scale)


class Conflict(Base):
    def forward(self, x: Tensor[B], scale: float = 1.0):
        return x


class Renamed(Base):
    def forward(self, y, scale=1.0):
        return y


class More(Base):
    def forward(self, x, scale, z):
        return x


class RenamedOwn(Base):
    def forward(self, y: Tensor["N"]):
        return y


class Decorated(Base):
    @shapes
    def forward(self, x: Tensor["N", "M"], scale: float = 1.0):
        return x


class Passes(Base):
    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs)


@shapes("dim B in [1, 8]")
class Shared(nn.Module):
    def forward(self, x: Tensor[B]):
        return x


class OfShared(Shared):
    def forward(self, x):
        return x


class Passing(Base):
    def encode(self, x, *args, **kwargs):
        return super().encode(x)


class ThroughPassing(Passing):
    def encode(self, x, again=False):
        return super().encode(x)


class Itself(Base):
    def forward(self: "Itself", x, scale: float = 1.0):
        return x


class Lambda(Base):
    forward = lambda self, x, scale=1.0: x  # noqa: E731


class Swapped(Base):
    """Its ``D`` is the base's ``B``: the names of two functions are two names."""

    def forward(self, x: Annotated[Tensor[D, B], where(D > 2, B > 3)], scale: float = 1.0):
        return x


class Pair(nn.Module):
    @shapes
    def forward(self, x: Tensor[B, "_"], y: Tensor[D]):
        return x


class OfPair(Pair):
    def forward(self, x: Tensor["N", D], y: Tensor["M"]):
        return x


BASE = "def forward(self, x: Tensor[B, D], scale = _) -> Tensor[B, D]:\n        dim B hint 8\n        where B < 32"


def spec(target: Any) -> tuple[sd.Spec | None, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = sd.spec_of(target)
    return found, [str(each.message) for each in caught]


def written(text: str) -> sd.Spec:
    (found,) = sd.loads(f"class C:\n    {text}").values()
    return found


@pytest.mark.parametrize(
    ("cls", "text"),
    [
        (Silent, BASE),
        (Deeper, BASE.replace("scale = _", "scale = _, verbose = _")),
        (Own, BASE + ", D == 5"),
        (Itself, BASE),
        (Swapped, BASE + ", B > 2, D > 3"),
        (OfPair, "def forward(self, x: Tensor[B, D_1], y: Tensor[D]): ..."),
        (OfShared, "def forward(self, x: Tensor[B]):\n        dim B in [1, 8]"),
    ],
    ids=[
        "silent",
        "two levels and a new default",
        "annotations of its own",
        "a typed self",
        "names that change places",
        "a name of its own",
        "a decorated class",
    ],
)
def test_the_spec_is_carried_over(cls: Callable[[], Any], text: str) -> None:
    for target in (cls(), cls, cls().forward, cls.forward):  # type: ignore[attr-defined]
        found, told = spec(target)
        assert found is not None
        assert found.normalize() == written(text).normalize()
        assert found.name == f"{cls.__name__}.forward"
        (message,) = told  # torch itself does not see it
        assert "spec-ignored" in message
        assert f"`{cls.__name__}` overrides the `forward` that" in message
        assert message.count("def forward(") == 2  # both places


def test_what_a_class_between_takes_besides_need_not_be_taken() -> None:
    found, _ = spec(Passing.encode)
    assert found is not None
    assert found.normalize() == written("def encode(self, x: Tensor[B, 3], *args, **kwargs): ...").normalize()
    found, _ = spec(ThroughPassing.encode)
    assert found is not None
    assert found.normalize() == written("def encode(self, x: Tensor[B, 3], again = _): ...").normalize()


def test_what_stands_under_another_name_overrides_too() -> None:
    found, (told,) = spec(Lambda)
    assert found is not None
    assert found.normalize() == written(BASE.replace(") -> Tensor[B, D]", ") -> Tensor[B, D]")).normalize()
    assert "`Lambda` overrides the `forward` that `Base` has a spec for" in told


def test_our_entry_points_obey_it() -> None:
    module = Silent()
    graphs: list[Any] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = sd.compile(module, backend=backend)
    for rows, columns in ((2, 3), (5, 4), (31, 2)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), x + 1)
    assert len(graphs) == 1
    with pytest.raises(sd.ShapeError, match="B < 32"):
        compiled(torch.ones(32, 2))


def test_other_methods_too() -> None:
    found, _ = spec(Silent().encode)
    assert found == written("def encode(self, x: Tensor[B, 3]): ...")


@pytest.mark.parametrize(
    ("cls", "why"),
    [(Renamed, "lacks `x`"), (More, "`z` is new, and has no default"), (Passes, "lacks `x`, `scale`")],
    ids=["renamed", "one more", "passes on"],
)
def test_other_parameters_lose_it_and_both_places_are_told(cls: Callable[[], Any], why: str) -> None:
    for target in (cls(), cls, cls().forward, cls.forward):  # type: ignore[attr-defined]
        found, told = spec(target)
        assert found is None
        (message,) = told
        assert "spec-ignored" in message
        assert why in message
        assert message.count("def forward(") == 2


def test_other_parameters_with_annotations_keep_those() -> None:
    found, told = spec(RenamedOwn())
    assert found == written("def forward(self, y: Tensor[N]): ...")
    (message,) = told
    assert "lacks `x`, `scale`" in message


def test_a_conflict_shows_both_places() -> None:
    with pytest.raises(sd.ShapeError, match="conflicting-sources") as caught:
        sd.spec_of(Conflict())
    assert str(caught.value).count("def forward(") == 2


@pytest.mark.parametrize("cls", [Base, Inherits, Decorated])
def test_what_torch_sees_itself_is_no_finding(cls: Callable[[], Any]) -> None:
    found, told = spec(cls())
    assert found is not None
    assert told == []


def test_a_decorated_override_stands_for_itself() -> None:
    assert spec(Decorated())[0] == written("def forward(self, x: Tensor[N, M], scale = _): ...")


def test_a_spec_that_was_put_on_the_base_is_carried_over() -> None:
    class Plain(nn.Module):
        def forward(self, x):
            return x

    class Over(Plain):
        def forward(self, x):
            return x + 1

    sd.attach(sd.loads("class Plain:\n    def forward(self, x: Tensor[B, D]): where B < 3"), {"Plain": Plain})
    found, told = spec(Over())
    assert found == written("def forward(self, x: Tensor[B, D]): where B < 3")
    assert len(told) == 1


def test_who_needs_the_lost_spec_is_told_why_it_is_lost() -> None:
    with pytest.raises(sd.ShapeError, match="it overrides one of `Base`, and lacks `x`") as caught:
        sd.compile(Renamed())
    assert caught.value.code == "unknown-spec"
