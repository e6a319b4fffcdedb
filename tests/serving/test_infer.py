"""Which spec calls suggest: relations that enough calls could have broken, and no others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.api.suggesting import suggest_profile
from shapedsl.serving.profiles.calls import FakeTensor, Reader
from shapedsl.serving.profiles.profile import Parameter, Profile


def tensor(*shape: int, dtype: str = "float32") -> FakeTensor:
    return FakeTensor(shape, dtype)


def ids(*shape: int) -> FakeTensor:
    return tensor(*shape, dtype="int64")


def profile(calls: Iterable[dict[str, Any]], returns: Callable[..., Any] | None = None, name: str = "f") -> Profile:
    """Returns the profile of calls, without a function or torch."""
    reader = Reader(lambda value: isinstance(value, FakeTensor))
    listed = list(calls)
    names = dict.fromkeys(key for call in listed for key in call)
    always = {key for key in names if all(key in call for call in listed)}
    made = Profile(name, tuple(Parameter(key, default=key not in always) for key in names))
    for call in listed:
        sizes: list[int] = []
        structure = tuple((key, reader.read(value, sizes)) for key, value in call.items())
        made.add(structure, tuple(sizes))
        if returns is not None:
            returned: list[int] = []
            node = reader.read(returns(**call), returned)
            made.tables[structure].output(tuple(sizes), (node, tuple(returned)))
    return made


def head(made: Profile) -> str:
    """Returns the head of the def on one line, without the name."""
    text = str(suggest_profile(made, k=1)).partition("def f")[2]
    whole = text[: text.index(":\n") + 1] if ":\n" in text else text.strip()
    return " ".join(whole.split()).replace("( ", "(").replace(", )", ")")


def rng() -> random.Random:
    return random.Random(0)


def test_equal_sizes_are_one_and_constant_ones_numbers() -> None:
    draw = rng()
    calls = [
        {"x": ids(b, s), "mask": tensor(b, s, dtype="bool"), "w": tensor(s, 64)}
        for b, s in ((draw.randint(1, 9), draw.randint(1, 99)) for _ in range(40))
    ]
    made = profile(calls, lambda x, mask, w: tensor(*x.shape, 64))
    assert head(made) == "(x: int64[B, S], mask: bool[B, S], w: Tensor[S, 64]) -> Tensor[B, S, 64]:"


def test_one_call_says_nothing_of_what_varies() -> None:
    made = profile([{"x": tensor(8, 16), "y": tensor(8, 16)}])
    assert head(made) == "(x: Tensor[_, _], y: Tensor[_, _]): ..."
    assert "too few calls could have changed it" in str(suggest_profile(made))


def test_a_thousand_equal_calls_say_no_more() -> None:
    made = profile([{"x": tensor(8, 16)}] * 1000)
    assert head(made) == "(x: Tensor[_, _]): ..."


def test_two_calls_do_not_make_sizes_equal() -> None:
    made = profile([{"x": tensor(8), "y": tensor(8)}, {"x": tensor(9), "y": tensor(9)}])
    assert head(made) == "(x: Tensor[N], y: Tensor[y_0]):"
    assert "# Another size equals x.shape[0] so far, in 2 sizes: too few to tell." in str(suggest_profile(made))


def test_sizes_that_follow_from_others() -> None:
    draw = rng()
    calls = []
    for _ in range(60):
        s, p = draw.randint(1, 40), draw.randint(0, 30)
        calls.append({"x": ids(2, s), "past": tensor(2, 4, p, 8), "mask": ids(2, p + s), "wide": tensor(3 * s + 1)})
    made = profile(calls, lambda x, past, mask, wide: tensor(2, x.shape[1], 2 * x.shape[1]))
    text = head(made)
    assert text == (
        "(x: int64[2, S], past: Tensor[2, 4, P, 8], mask: int64[2, S + P], wide: Tensor[3 * S + 1])"
        " -> Tensor[2, S, 2 * S]:"
    )


def test_the_smaller_of_two_multiples_is_the_size() -> None:
    calls = [{"x": tensor(4 * n), "y": tensor(n)} for n in range(1, 9)]
    assert head(profile(calls)) == "(x: Tensor[4 * N], y: Tensor[N]):"


@pytest.mark.parametrize(
    ("sizes", "declared"),
    [
        ([8, 16, 24, 40, 48, 64], "dim N multiple of 8 hint 24"),
        ([5, 13, 21, 29, 45], "dim N multiple of 8 plus 5 hint 45"),
        ([2, 4, 6, 8, 10, 14], "dim N hint 6"),  # six even sizes are not rare enough
        ([2 * n for n in range(1, 15)], "dim N multiple of 2 hint"),
        ([1, 8, 16, 24, 32, 40], "dim N hint"),
        ([64, 128, 256], "dim N hint"),
    ],
)
def test_residues_need_sizes_that_chance_would_not_give(sizes: list[int], declared: str) -> None:
    text = str(suggest_profile(profile([{"x": tensor(size)} for size in sizes]), k=1))
    assert f"    {declared}" in text
    assert ("multiple" in text) is ("multiple" in declared)


def test_bounds_are_hints_and_comments() -> None:
    made = suggest_profile(profile([{"x": tensor(size)} for size in (3, 9, 9, 9, 30)]), k=1)
    assert "    dim N hint 9  # 3 to 30: 3 sizes in 5 calls" in made.text
    assert made.spec.range("N").lo == 0
    assert made.spec.range("N").hi is None


def test_negative_ints_and_ints_that_never_are() -> None:
    calls = [{"x": tensor(n), "shift": -n * n, "count": n % 5} for n in range(1, 20)]
    text = suggest_profile(profile(calls), k=1).text
    assert "    int shift hint" in text
    assert "    int count in [0, inf] hint" in text


def test_zero_sizes() -> None:
    made = suggest_profile(profile([{"x": tensor(n, 0)} for n in range(20)]), k=4)
    assert "x: Tensor[N, _]" in made.text or "x: Tensor[B, _]" in made.text


def test_optional_arguments_and_lists_of_any_length() -> None:
    draw = rng()
    calls: list[dict[str, Any]] = []
    for n in range(40):
        b, d = draw.randint(1, 9), draw.randint(1, 50)
        kvs = [tensor(b, draw.randint(1, 9)) for _ in range(n % 3 + 1)]
        calls.append({"x": tensor(b, d), "mask": None if n % 2 else tensor(b), "kvs": kvs})
    assert head(profile(calls)) == "(x: Tensor[B, D], mask: Tensor[B] | None, kvs: [Tensor[B, ?], ...]):"


def test_equal_items_are_written_once() -> None:
    calls = [{"kvs": [(tensor(b, 2), tensor(b, 2))] * 3} for b in range(1, 30)]
    assert head(profile(calls)) == "(kvs: [(Tensor[B, 2], Tensor[B, 2])] * 3):"


def test_what_differs_is_static_and_told() -> None:
    calls: list[dict[str, Any]] = [{"x": tensor(2), "y": tensor(n)} for n in range(9)]
    calls += [{"x": tensor(2, 3), "y": 4}]
    made = suggest_profile(profile(calls), k=1)
    assert "x: Tensor, y: _" in made.text
    assert "A tensor of 1 or 2 dims is written without its dims." in made.text
    assert "An argument was int and tensor; it is written `_`." in made.text


def test_objects_dicts_and_keyword_parameters() -> None:
    reader = Reader(lambda value: isinstance(value, FakeTensor))
    made = Profile("f", (Parameter("args", "VAR_POSITIONAL"), Parameter("flag", "KEYWORD_ONLY", default=True)))
    for n in range(1, 9):
        sizes: list[int] = []
        args = reader.read(({"a": tensor(n), "b": "text"}, tensor(n, n + 1)), sizes)
        flag = reader.read(True, sizes)
        made.add((("args", args), ("flag", flag)), tuple(sizes))
    assert head(made) == '(*args: ({"a": Tensor[N], "b": _}, Tensor[N, N + 1]), flag: _ = _):'


def test_outputs_that_do_not_follow_have_no_type() -> None:
    draw = rng()
    calls = [{"x": tensor(n)} for n in range(1, 30)]
    made = profile(calls, lambda x: tensor(draw.randint(0, 10**6)))
    assert head(made).endswith("-> Tensor[_]:")


def test_every_suggestion_passes_check() -> None:
    """Random calls of random structures: what is suggested reads, checks, and accepts every call."""
    draw = random.Random(7)
    for _ in range(25):
        pool = [draw.randint(0, 3) for _ in range(3)]
        count = draw.randint(1, 30)
        ranks = [draw.randint(0, 4) for _ in range(3)]
        calls: list[dict[str, Any]] = []
        for _ in range(count):
            sizes = [draw.choice((p, draw.randint(0, 40))) for p in pool]
            call: dict[str, Any] = {f"p{i}": tensor(*draw.choices(sizes, k=rank)) for i, rank in enumerate(ranks)}
            call["n"] = draw.choice((None, draw.randint(-5, 5)))
            if draw.random() < 0.5:
                call["late"] = [tensor(sizes[0])] * draw.randint(0, 2)
            calls.append(call)
        made = suggest_profile(profile(calls, lambda p0, **_: p0), k=draw.choice((None, 1, 4)))
        assert made.traffic.refused == 0, made.text
        again = sd.loads(made.text)
        assert next(iter(again.values())) == made.spec
