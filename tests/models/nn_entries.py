"""Entries of ``torch.nn`` and torchvision: a tiny module each, and sizes that its spec takes and refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.models.harness import Call, Entry, Sizes, torch

nn = torch.nn
randn = torch.randn


def rows(**columns: tuple[int, ...]) -> tuple[Sizes, ...]:
    """Returns ``{"B": 2, "T": 3}, {"B": 1, "T": 4}`` of ``B=(2, 1), T=(3, 4)``."""
    return tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _mask(*sizes: int) -> Any:
    """Returns a mask that hides the last row's end, and nothing entirely."""
    mask = torch.zeros(*sizes, dtype=torch.bool)
    if sizes[-1] > 1:
        mask[..., -1] = True
    return mask


# ---------------------------------------------------------------------- one tensor in, one out


def _features(A: int, B: int, F: int = 6) -> Call:
    return (randn(A, B, F),), {}


def _signal(B: int, T: int, C: int = 4) -> Call:
    return (randn(B, C, T),), {}


def _image(B: int, H: int, W: int, C: int = 4) -> Call:
    return (randn(B, C, H, W),), {}


def _unbatched(T: int, C: int = 4) -> Call:
    return (randn(C, T),), {}


_AB = rows(A=(2, 1, 0, 7, 3), B=(3, 1, 4, 2, 1))
_BT = rows(B=(2, 1, 3, 5), T=(8, 7, 9, 16))
_BHW = rows(B=(2, 1, 3, 5), H=(8, 7, 9, 16), W=(9, 8, 7, 11))


def _linears() -> list[Entry]:
    wrong = ({"A": 2, "B": 3, "F": 5},)
    return [
        Entry("Linear", lambda: nn.Linear(6, 5), _features, _AB, wrong),
        Entry("LayerNorm", lambda: nn.LayerNorm(6), _features, _AB, wrong),
        Entry(
            "LayerNorm, two dims",
            lambda: nn.LayerNorm((4, 6)),
            lambda A, B, F=6: ((randn(A, B, 4, F),), {}),
            _AB,
            wrong,
        ),
        Entry(
            "LayerNorm, three dims",
            lambda: nn.LayerNorm((2, 4, 6)),
            lambda A, B, F=6: ((randn(A, B, 2, 4, F),), {}),
            _AB,
            wrong,
        ),
    ]


def _group_norms() -> list[Entry]:
    wrong = ({"B": 2, "H": 3, "W": 4, "C": 5}, {"B": 0, "H": 3, "W": 4})
    good = rows(B=(2, 1, 7, 3), H=(3, 2, 2, 1), W=(4, 2, 1, 9))
    image = partial(_image, C=6)
    return [
        Entry("GroupNorm", lambda: nn.GroupNorm(2, 6), image, good, wrong),
        # of one channel in a group, torch wants more than one value
        Entry(
            "GroupNorm, a group a channel", lambda: nn.GroupNorm(6, 6), image, good, (*wrong, {"B": 1, "H": 1, "W": 1})
        ),
    ]


def _convolutions() -> list[Entry]:
    def entry(name: str, kind: Callable[..., Any], inputs: Callable[..., Call], **options: Any) -> Entry:
        wide = kind is not nn.Conv1d
        wrong: tuple[Sizes, ...] = ({"B": 2, "H": 8, "W": 8, "C": 3}, {"B": 2, "H": 8, "W": 0})
        narrow: tuple[Sizes, ...] = ({"B": 2, "T": 8, "C": 3}, {"B": 2, "T": 0})
        return Entry(name, lambda: kind(4, 6, **options), inputs, _BHW if wide else _BT, wrong if wide else narrow)

    def plane(name: str, kind: Callable[..., Any]) -> Entry:
        return Entry(
            name,
            lambda: kind(4, 6, 3),
            lambda H, W, C=4: ((randn(C, H, W),), {}),
            rows(H=(8, 3, 5, 16), W=(9, 4, 3, 11)),
            ({"H": 8, "W": 0}, {"H": 8, "W": 8, "C": 3}),
            spec="forward@2",
        )

    return [
        entry("Conv1d", nn.Conv1d, _signal, kernel_size=3),
        entry("Conv1d, strided and padded", nn.Conv1d, _signal, kernel_size=4, padding=1, stride=2, dilation=2),
        entry("Conv1d, same", nn.Conv1d, _signal, kernel_size=4, padding="same"),
        Entry(
            "Conv1d, unbatched",
            lambda: nn.Conv1d(4, 6, 3),
            _unbatched,
            rows(T=(8, 3, 5, 16)),
            ({"T": 2}, {"T": 8, "C": 3}),
            spec="forward@2",
        ),
        entry("Conv2d", nn.Conv2d, _image, kernel_size=3),
        entry(
            "Conv2d, strided and padded", nn.Conv2d, _image, kernel_size=(3, 5), padding=(1, 2), stride=(2, 1), groups=2
        ),
        entry("ConvTranspose2d", nn.ConvTranspose2d, _image, kernel_size=3),
        plane("Conv2d, unbatched", nn.Conv2d),
        plane("ConvTranspose2d, unbatched", nn.ConvTranspose2d),
        entry(
            "ConvTranspose2d, strided and padded",
            nn.ConvTranspose2d,
            _image,
            kernel_size=(3, 5),
            padding=(1, 2),
            stride=(2, 1),
            output_padding=(1, 0),
        ),
    ]


# --------------------------------------------------------------------------------- embeddings


def _ids(*sizes: int) -> Any:
    return torch.randint(0, 10, sizes)


def _row_ids(B: int, N: int, real: int = 0) -> Call:
    return (randn(B, N) if real else _ids(B, N),), {}


def _short(inputs: Callable[..., Call]) -> Callable[..., Call]:
    """Returns the calls of ``inputs`` with int32 in the place of int64; where ``long`` is given, as they are."""

    def narrowed(long: int = 0, **sizes: int) -> Call:
        args, kwargs = inputs(**sizes)
        return tuple(x.int() if not long and x is not None and x.dtype is torch.int64 else x for x in args), kwargs

    return narrowed


def _weighted(B: int, N: int, more: int = 0) -> Call:
    return (_ids(B, N), None, randn(B, N + more)), {}


def _bags(B: int, N: int, last: bool = False, real: int = 0, weights: bool = False, more: int = 0) -> Call:
    begins = torch.cat([torch.zeros(1, dtype=torch.int64), torch.randint(0, N + 1, (B - 1,)).sort().values])
    offsets = torch.cat([begins, torch.tensor([N])]) if last else begins
    ids = randn(N) if real else _ids(N)
    return ((ids, offsets, randn(N + more)) if weights else (ids, offsets)), {}


def _embeddings() -> list[Entry]:
    good = rows(B=(2, 1, 3, 5), N=(3, 1, 4, 2))
    real, longer = ({"B": 2, "N": 3, "real": 1},), ({"B": 2, "N": 3, "more": 1},)
    wide = ({"B": 2, "N": 3, "long": 1},)
    bag = nn.EmbeddingBag
    weighted = partial(_bags, weights=True)

    def plain() -> Any:
        return bag(10, 5)

    def summed() -> Any:
        return bag(10, 5, mode="sum")

    return [
        Entry("Embedding", lambda: nn.Embedding(10, 5), _row_ids, (*good, {"B": 0, "N": 4}), real),
        Entry("Embedding, int32", lambda: nn.Embedding(10, 5), _short(_row_ids), good, wide, spec="forward@2"),
        Entry("EmbeddingBag", plain, _row_ids, good, (*real, {"B": 2, "N": 0})),
        Entry("EmbeddingBag, offsets", lambda: bag(10, 5, mode="max"), _bags, good, real, spec="forward@2"),
        Entry(
            "EmbeddingBag, last offset",
            lambda: bag(10, 5, include_last_offset=True),
            partial(_bags, last=True),
            good,
            real,
            spec="forward@2",
        ),
        Entry("EmbeddingBag, weights", summed, _weighted, good, longer),
        Entry("EmbeddingBag, offsets and weights", summed, weighted, good, longer, spec="forward@4"),
        Entry("EmbeddingBag, int32", plain, _short(_row_ids), good, wide, spec="forward@5"),
        Entry("EmbeddingBag, offsets, int32", plain, _short(_bags), good, wide, spec="forward@6"),
        Entry("EmbeddingBag, weights, int32", summed, _short(_weighted), good, wide, spec="forward@7"),
        Entry("EmbeddingBag, offsets and weights, int32", summed, _short(weighted), good, wide, spec="forward@8"),
    ]


# ---------------------------------------------------------------------------------- attention


def _attention(
    B: int, Q: int, K: int, E: int = 8, *, first: bool = True, masks: str = "", one: bool = False, **options: Any
) -> Call:
    """Returns a call of attention; ``masks`` has a letter each: p(adding), m(ask), h (a mask for each head)."""

    def made(length: int, width: int) -> Any:
        return randn(B, length, width) if first else randn(length, B, width)

    query = made(Q, E)
    key, value = (query, query) if one else (made(K, 8), made(K, 8))
    kwargs: dict[str, Any] = dict(options)
    if "p" in masks:
        kwargs["key_padding_mask"] = _mask(B, K)
    if "m" in masks:
        kwargs["attn_mask"] = _mask(Q, K)
    if "h" in masks:
        kwargs["attn_mask"] = _mask(2 * B, Q, K)
    return (query, key, value), kwargs


def _attentions() -> list[Entry]:
    twos = rows(B=(2, 3, 2, 4), Q=(3, 2, 7, 5), K=(4, 3, 2, 5))
    alone = rows(B=(1, 1, 1, 1), Q=(3, 2, 7, 5), K=(4, 3, 2, 5))
    equal = rows(B=(2, 3, 2, 4), Q=(3, 2, 7, 5), K=(3, 2, 7, 5))
    wide: Sizes = {"B": 2, "Q": 3, "K": 3, "E": 9}
    short: Sizes = {"B": 2, "Q": 1, "K": 3}
    single: Sizes = {"B": 1, "Q": 3, "K": 3}
    pair: Sizes = {"B": 2, "Q": 3, "K": 3}

    def entry(name: str, good: tuple[Sizes, ...], bad: tuple[Sizes, ...], spec: str | None, **options: Any) -> Entry:
        first = options.get("first", True)
        return Entry(
            f"MultiheadAttention, {name}" if name else "MultiheadAttention",
            lambda: nn.MultiheadAttention(8, 2, batch_first=first).eval(),
            partial(_attention, **options),
            good,
            bad,
            spec=spec,
        )

    fast = {"need_weights": False}
    return [
        entry("", twos, (wide, single, short), None),
        entry("length first", twos, (wide, single, short), None, first=False),
        entry("masks", twos, (wide, single), "forward@2", masks="pm", **fast),
        entry("one mask", twos, (wide, single), "forward@2", masks="m", **fast),
        entry("a mask for each head", twos, (wide, single, short), "forward@3", masks="h"),
        entry("one tensor, masks", equal, (wide, single), "forward@4", masks="pm", one=True, **fast),
        entry("masks, length first", twos, (wide, single), "forward@6", masks="pm", first=False, **fast),
        entry("a mask for each head, length first", twos, (wide, single, short), "forward@7", masks="h", first=False),
        entry(
            "one tensor, masks, length first",
            equal,
            (wide, single),
            "forward@8",
            masks="m",
            one=True,
            first=False,
            **fast,
        ),
        Entry(
            "MultiheadAttention, unbatched",
            lambda: nn.MultiheadAttention(8, 2).eval(),
            lambda Q, K, E=8: ((randn(Q, E), randn(K, 8), randn(K, 8)), {"attn_mask": _mask(Q, K), **fast}),
            rows(Q=(3, 2, 7, 5), K=(4, 3, 2, 5)),
            ({"Q": 1, "K": 3}, {"Q": 3, "K": 3, "E": 9}),
            spec="forward@9",
        ),
        entry("one sequence", alone, (wide, pair), "forward@10"),
        entry("one sequence, masks", alone, (wide, pair), "forward@10", masks="pm"),
        entry("one sequence, length first", alone, (wide, pair), "forward@11", first=False, **fast),
    ]


def _encoded(B: int, S: int, E: int = 8, *, first: bool = True, masks: str = "") -> Call:
    kwargs: dict[str, Any] = {}
    if "p" in masks:
        kwargs["src_key_padding_mask"] = _mask(B, S)
    if "m" in masks:
        kwargs["src_mask"] = _mask(S, S)
    if "h" in masks:
        kwargs["src_mask"] = _mask(2 * B, S, S)
    return (randn(B, S, E) if first else randn(S, B, E),), kwargs


def _decoded(B: int, T: int, S: int, E: int = 8, *, first: bool = True, masks: str = "") -> Call:
    def made(length: int, width: int) -> Any:
        return randn(B, length, width) if first else randn(length, B, width)

    kwargs: dict[str, Any] = {}
    if "m" in masks:
        kwargs["tgt_mask"] = torch.ones(T, T, dtype=torch.bool).triu(1)
    if "p" in masks:
        kwargs |= {
            "memory_mask": _mask(T, S),
            "tgt_key_padding_mask": torch.zeros(B, T, dtype=torch.bool),
            "memory_key_padding_mask": torch.zeros(B, S, dtype=torch.bool),
        }
    return (made(T, E), made(S, 8)), kwargs


def _transformers() -> list[Entry]:
    wide: Sizes = {"B": 2, "S": 3, "E": 9}

    def encoder(
        name: str, sizes: tuple[tuple[int, ...], tuple[int, ...]], bad: Sizes, spec: str | None, **options: Any
    ) -> Entry:
        first = options.get("first", True)
        return Entry(
            f"TransformerEncoderLayer, {name}" if name else "TransformerEncoderLayer",
            lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=first).eval(),
            partial(_encoded, **options),
            rows(B=sizes[0], S=sizes[1]),
            (wide, bad),
            spec=spec,
        )

    def decoder(
        name: str,
        lows: tuple[int, int],
        bad: Sizes,
        spec: str | None,
        *,
        train: bool = False,
        most: int = 3,
        **options: Any,
    ) -> Entry:
        first = options.get("first", True)
        good = tuple(
            {"B": min(max(B, lows[0]), most), "T": max(T, lows[1]), "S": S}
            for B, T, S in ((2, 3, 4), (1, 1, 2), (3, 1, 5), (2, 6, 1))
        )
        return Entry(
            f"TransformerDecoderLayer, {name}" if name else "TransformerDecoderLayer",
            lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=first).train(train),
            partial(_decoded, **options),
            good,
            ({**wide, "T": 2}, bad),
            spec=spec,
        )

    return [
        encoder("", ((2, 2, 4, 3), (3, 1, 4, 1)), {"B": 1, "S": 3}, None),
        encoder("length first", ((2, 2, 4, 3), (3, 1, 4, 1)), {"B": 1, "S": 3}, None, first=False),
        encoder("padding", ((2, 2, 4, 3), (3, 2, 4, 2)), {"B": 2, "S": 1}, "forward@3", masks="p"),
        encoder("padding and a mask", ((2, 2, 4, 3), (3, 2, 4, 2)), {"B": 2, "S": 1}, "forward@3", masks="pm"),
        encoder("a mask", ((2, 2, 4, 3), (3, 1, 4, 2)), {"B": 1, "S": 3}, "forward@2", masks="m"),
        encoder("a mask for each head", ((2, 2, 4, 3), (3, 2, 4, 2)), {"B": 2, "S": 1}, "forward@4", masks="h"),
        encoder(
            "a mask, length first", ((2, 2, 4, 3), (3, 1, 4, 2)), {"B": 1, "S": 3}, "forward@6", masks="m", first=False
        ),
        encoder(
            "padding, length first", ((2, 2, 4, 3), (3, 2, 4, 2)), {"B": 2, "S": 1}, "forward@7", masks="p", first=False
        ),
        encoder(
            "a mask for each head, length first",
            ((2, 2, 4, 3), (3, 2, 4, 2)),
            {"B": 2, "S": 1},
            "forward@8",
            masks="h",
            first=False,
        ),
        Entry(
            "TransformerEncoderLayer, unbatched",
            lambda: nn.TransformerEncoderLayer(8, 2, 16).eval(),
            lambda S, E=8: ((randn(S, E), _mask(S, S)), {"src_key_padding_mask": _mask(S)}),
            rows(S=(3, 2, 4, 7)),
            ({"S": 1}, {"S": 3, "E": 9}),
            spec="forward@9",
        ),
        encoder("one sequence", ((1, 1, 1, 1), (3, 1, 4, 2)), {"B": 2, "S": 3}, "forward@10"),
        encoder("one sequence, masks", ((1, 1, 1, 1), (3, 2, 4, 7)), {"B": 1, "S": 1}, "forward@11", masks="pm"),
        encoder(
            "one sequence, length first", ((1, 1, 1, 1), (3, 1, 4, 2)), {"B": 2, "S": 3}, "forward@12", first=False
        ),
        encoder(
            "one sequence, masks, length first",
            ((1, 1, 1, 1), (3, 2, 4, 7)),
            {"B": 1, "S": 1},
            "forward@13",
            masks="p",
            first=False,
        ),
        decoder("", (2, 1), {"B": 1, "T": 2, "S": 3}, None),
        decoder("training", (2, 1), {"B": 1, "T": 2, "S": 3}, None, train=True),
        decoder("a mask", (2, 1), {"B": 1, "T": 2, "S": 3}, "forward@2", masks="m"),
        decoder("any masks", (2, 2), {"B": 2, "T": 1, "S": 3}, "forward@3", masks="mp"),
        decoder("length first", (2, 1), {"B": 1, "T": 2, "S": 3}, None, first=False),
        decoder("a mask, length first", (2, 1), {"B": 1, "T": 2, "S": 3}, "forward@5", masks="m", first=False),
        Entry(
            "TransformerDecoderLayer, unbatched",
            lambda: nn.TransformerDecoderLayer(8, 2, 16).eval(),
            lambda T, S, E=8: ((randn(T, E), randn(S, 8), _mask(T, T)), {"memory_key_padding_mask": _mask(S)}),
            rows(T=(3, 2, 4, 7), S=(4, 1, 2, 3)),
            ({"T": 1, "S": 2}, {"T": 3, "S": 2, "E": 9}),
            spec="forward@7",
        ),
        decoder("any masks, length first", (2, 2), {"B": 2, "T": 1, "S": 3}, "forward@6", masks="mp", first=False),
        decoder("one sequence", (1, 1), {"B": 2, "T": 3, "S": 3}, "forward@8", most=1),
        decoder("one sequence, length first", (1, 1), {"B": 2, "T": 3, "S": 3}, "forward@9", most=1, first=False),
    ]


# ----------------------------------------------------------------------- recurrent, and images


def _sequence(B: int, T: int = 5, F: int = 4, *, first: bool = True, states: tuple[tuple[int, int], ...] = ()) -> Call:
    given = tuple(randn(runs, B, width) for runs, width in states)
    inputs = randn(B, T, F) if first else randn(T, B, F)
    return ((inputs, given) if len(given) > 1 else (inputs, *given)), {}


def _recurrent() -> list[Entry]:
    good = rows(B=(2, 1, 3, 8))

    def entry(name: str, kind: Callable[..., Any], inputs: Callable[..., Call], **options: Any) -> Entry:
        return Entry(
            name,
            lambda: kind(4, 3, **{"batch_first": True, **options}),
            inputs,
            good,
            ({"B": 2, "F": 5}, {"B": 0}),
            dynamo={"allow_rnn": True},
            note="the length is static; `torch._dynamo.config.allow_rnn`",
        )

    both = {"num_layers": 2, "bidirectional": True}
    return [
        entry("LSTM", nn.LSTM, _sequence),
        entry("LSTM, length first", nn.LSTM, partial(_sequence, first=False), batch_first=False),
        entry("LSTM, bidirectional, states", nn.LSTM, partial(_sequence, states=((4, 3), (4, 3))), **both),
        entry("LSTM, projected, states", nn.LSTM, partial(_sequence, states=((1, 2), (1, 3))), proj_size=2),
        entry("GRU", nn.GRU, _sequence),
        entry("GRU, length first", nn.GRU, partial(_sequence, first=False), batch_first=False),
        entry("GRU, bidirectional, states", nn.GRU, partial(_sequence, states=((4, 3),)), **both),
    ]


def _resnet(train: bool) -> Any:
    resnet = pytest.importorskip("torchvision.models.resnet", reason="ResNet is torchvision's")
    return resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=5).train(train)


def _images() -> list[Entry]:
    image = partial(_image, C=3)
    gray: Sizes = {"B": 2, "H": 8, "W": 8, "C": 1}
    return [
        Entry(
            "ResNet",
            lambda: _resnet(train=False),
            image,
            rows(B=(2, 1, 3, 1), H=(32, 40, 17, 1), W=(32, 8, 33, 1)),
            (gray, {"B": 0, "H": 32, "W": 32}),
        ),
        Entry(
            "ResNet, training",
            lambda: _resnet(train=True),
            image,
            rows(B=(2, 4, 3, 2), H=(32, 40, 17, 8), W=(32, 8, 33, 8)),
            (gray, {"B": 1, "H": 32, "W": 32}),
        ),
    ]


ENTRIES: tuple[Entry, ...] = (
    *_linears(),
    *_group_norms(),
    *_convolutions(),
    *_embeddings(),
    *_attentions(),
    *_transformers(),
    *_recurrent(),
    *_images(),
)
