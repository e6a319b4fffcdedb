"""Models over lists of things: a graph net, attention in packed sequences, a recommender. Some sizes are padded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.models.real.entry import Call, Entry

torch = pytest.importorskip("torch", reason="models run through torch")


def _own(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from tests.models.real import sparse_nets

        torch.manual_seed(0)
        return getattr(sparse_nets, name)().eval()

    return make


class _Random:
    """Random data of one call; equal sizes give equal data."""

    def __init__(self, *sizes: int) -> None:
        self._generator = torch.Generator().manual_seed(sum(n * each for n, each in enumerate(sizes, 1)))

    def noise(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self._generator)

    def ids(self, below: int, *shape: int) -> Any:
        return torch.randint(below, shape, generator=self._generator)

    def offsets(self, total: int, parts: int) -> Any:
        """Returns where ``parts`` pieces of ``total`` things begin and end; some are empty."""
        inner = self.ids(total + 1, max(parts - 1, 0)).sort().values
        return torch.cat([torch.tensor([0]), inner, torch.tensor([total])])[: parts + 1]


# --- graphs


def _graphs(N: int, E: int, G: int, off: int = 0) -> Call:
    data = _Random(N, E, G)
    nodes, edges, attributes = data.noise(N + off, 8), data.ids(max(N, 1), 2, E), data.noise(E, 4)
    return (nodes, edges, attributes, data.ids(max(G, 1), N).sort().values, data.noise(G, 3)), {}


GNN = Entry(
    "graph net",
    "gnn.shapes",
    _own("GraphNet"),
    _graphs,
    sizes={
        "alone": (
            {"N": 5, "E": 0, "G": 2},
            {"N": 1, "E": 0, "G": 1},
            {"N": 4, "E": 0, "G": 4},
        ),
        "padded": (
            {"N": 5, "E": 7, "G": 2},
            {"N": 1, "E": 1, "G": 1},
            {"N": 15, "E": 64, "G": 7},
            {"N": 7, "E": 7, "G": 7},
            {"N": 30, "E": 40, "G": 3},
            {"N": 127, "E": 60, "G": 4},
        ),
        "otherwise": (
            {"N": 1024, "E": 100, "G": 5},
            {"N": 40, "E": 5000, "G": 5},
            {"N": 10, "E": 20, "G": 40},
            {"N": 1, "E": 4097, "G": 1},
            {"N": 50, "E": 50, "G": 50},
            {"N": 2000, "E": 3, "G": 128},
        ),
    },
    members={"padded": 2},
    bad=(
        {"N": 0, "E": 0, "G": 1},
        {"N": 5, "E": 7, "G": 0},
        {"N": 5, "E": 7, "G": 129},
        {"N": 5, "E": 7, "G": 2, "off": 1},
    ),
)


# --- packed sequences


def _packed(B: int, T: int, width: int = 16) -> Call:
    data = _Random(B, T)
    return (data.noise(T, width), data.offsets(T, B)), {}


JAGGED = Entry(
    "jagged attention",
    "jagged.shapes",
    _own("Jagged"),
    _packed,
    sizes={
        "padded": (
            {"B": 3, "T": 10},
            {"B": 1, "T": 1},
            {"B": 7, "T": 64},
            {"B": 5, "T": 5},
            {"B": 20, "T": 40},
            {"B": 63, "T": 2},
        ),
        "otherwise": (
            {"B": 64, "T": 100},
            {"B": 100, "T": 7},
            {"B": 3, "T": 1025},
            {"B": 1, "T": 1100},
            {"B": 70, "T": 70},
            {"B": 512, "T": 1},
        ),
    },
    members={"padded": 2},
    bad=({"B": 0, "T": 5}, {"B": 3, "T": 0}, {"B": 3, "T": 5, "width": 15}, {"B": 513, "T": 5}),
    cures=("T >= 1",),
)


# --- bags


def _bags(B: int, N0: int, N1: int, off: int = 0) -> Call:
    data = _Random(B, N0, N1)
    features = [
        {"values": data.ids(rows, total), "offsets": data.offsets(total, B + extra)}
        for rows, total, extra in ((20, N0, 0), (30, N1, off))
    ]
    return (data.noise(B, 4), features), {}


RECOMMENDER = Entry(
    "recommender",
    "recommender.shapes",
    _own("Recommender"),
    _bags,
    sizes={
        "one": (
            {"B": 1, "N0": 3, "N1": 5},
            {"B": 1, "N0": 0, "N1": 2},
            {"B": 1, "N0": 7, "N1": 7},
        ),
        "batched": (
            {"B": 10, "N0": 30, "N1": 4},
            {"B": 64, "N0": 0, "N1": 64},
            {"B": 2, "N0": 1, "N1": 0},
            {"B": 9, "N0": 9, "N1": 9},
            {"B": 65, "N0": 300, "N1": 100},
            {"B": 200, "N0": 1, "N1": 500},
        ),
        "otherwise": (
            {"B": 1025, "N0": 100, "N1": 200},
            {"B": 1500, "N0": 0, "N1": 1},
            {"B": 2000, "N0": 2000, "N1": 2000},
            {"B": 1100, "N0": 1, "N1": 0},
            {"B": 4096, "N0": 10, "N1": 4096},
            {"B": 1030, "N0": 5000, "N1": 30},
        ),
    },
    members={"batched": 2},
    bad=({"B": 0, "N0": 0, "N1": 0}, {"B": 4097, "N0": 1, "N1": 1}, {"B": 3, "N0": 5, "N1": 5, "off": 1}),
)

ENTRIES: tuple[Entry, ...] = (GNN, JAGGED, RECOMMENDER)
