"""The table of what padding does, a row a model: its spec, whether it is safe, and how wrong it is at least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import modules


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        make: The model.
        text: Its spec.
        error: 0 where padding is safe; else a lower bound of the largest error, absolute.
    """

    make: Callable[[], Any]
    text: str
    error: float = 0.0

    @property
    def safe(self) -> bool:
        return self.error == 0.0


BERT = """
def forward(ids: int64[B, S], mask: int64[B, S]) -> (float32[B, S, 16], float32[B, 16]):
    dim B in [1, 8]
    dim S in [1, 16]
    values ids in [0, 31]
    values mask in [0, 1]
    bucket S in {8, 16} pad ids with 0, mask with FILL as masked
    bucket B in {4, 8} pad ids with 0, mask with 1 as rows_independent
    otherwise
"""

CAUSAL = """
def forward(ids: int64[B, S]) -> float32[B, S, 32]:
    dim B in [1, 4]
    dim S in [1, 16]
    values ids in [0, 31]
    bucket S in {8, 16} PLACE pad ids with 0 as causal_right
"""

CACHE = """
def forward(ids: int64[B, 1], mask: bool[B, 1, 1, P + 1], k: float32[B, 2, P, 8], v: float32[B, 2, P, 8]) -> (
    float32[B, 1, 16], float32[B, 2, P + 1, 8], float32[B, 2, P + 1, 8]
):
    dim B in [1, 4]
    dim P in [1, 16]
    values ids in [0, 31]
    bucket P in {8, 16} PLACE pad k with 0, v with 0, mask with false as masked
"""

IMAGE = """
def forward(x: float32[B, 3, H, W]) -> float32[B, 1, H, W]:
    dim B in [1, 2]
    dim H, W in [4, 16]
    bucket H in {8, 16} pad x with 0 as REASON
    bucket W in {8, 16} pad x with 0 as REASON
"""

BATCH = """
def forward(x: float32[B, 3, 4, 4]) -> float32[B, 8, 4, 4]:
    dim B in [2, 8]
    bucket B in {4, 8} pad x with 0 as rows_independent
"""

PATCHES = """
def forward(x: float32[B, 3, H, W]) -> float32[B, 5]:
    dim B in [1, 2]
    dim H, W in [4, 16] multiple of 4
    bucket H in {8, 16} pad x with 0
"""

GRAPH = """
def forward(x: float32[N, 4], edges: int64[2, E], attributes: float32[E, 2], batch: int64[N], graphs: float32[G]) -> (
    float32[G, 8]
):
    dim N in [1, 32]
    dim E in [1, 64]
    dim G in [1, 8]
    values edges in [0, N - 1]
    values batch in [0, G - 1]
    case padded:
        where RULE
        bucket N in {8, 16, 33} pad (x with 0, batch with G) as masked
        bucket E in {16, 64} pad (edges with DUMMY, attributes with 0) as masked
        bucket G in {2, 4, 9} pad graphs with 0 as rows_independent
"""

JAGGED = """
def forward(values: float32[T, 4], offsets: int64[B + 1]) -> (float32[B, 4], float32[T, 4]):
    dim B in [1, 8]
    dim T in [1, 32]
    values offsets sorted from 0 to T
    case padded:
        RULE
        bucket T in {16, 32} pad values with 0 as rows_independent
        bucket B in {4, 9} pad offsets with T_pad as rows_independent
"""

# the last segment ends where the values do, so that it takes the padded slots
STRETCHED = """
def forward(values: float32[T, 4], starts: int64[B]) -> float32[B, 4]:
    dim B in [1, 8]
    dim T in [1, 32]
    values starts sorted from 0 to T - 1
    bucket T in {16, 32} pad values with 0 as masked
"""

QUANTIZED = """
def forward(x: float32[B, 4]) -> float32[B, 4]:
    dim B in [1, 8]
    bucket B in {4, 8} pad x with FILL as REASON
"""

RECURRENT = """
def forward(x: float32[B, S, 4]) -> (float32[B, S, WIDTH], float32[DIRECTIONS, B, 8]):
    dim B in [1, 4]
    dim S in [1, 16]
    case padded:
        bucket S in {8, 16} pad x with 0 as causal_right
        LINE
"""


def _text(text: str, **words: str) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _lines(text: str, **words: str) -> str:
    return "\n".join(line for line in _text(text, **words).splitlines() if line.strip())


def _recurrent(line: str, directions: int = 1) -> str:
    return _lines(RECURRENT, WIDTH=str(8 * directions), DIRECTIONS=str(directions), LINE=line)


TABLE: dict[str, Row] = {
    "bert, mask 0": Row(modules.Bert, _text(BERT, FILL="0")),
    "bert, mask 1": Row(modules.Bert, _text(BERT, FILL="1"), 1e-2),
    "causal, right": Row(modules.Causal, _text(CAUSAL, PLACE="")),
    "causal, left": Row(modules.Causal, _text(CAUSAL, PLACE="left"), 3e-1),
    "cache, at P": Row(modules.Step, _text(CACHE, PLACE="at P")),
    "cache, at the end": Row(modules.Step, _text(CACHE, PLACE=""), 1e-1),
    "convolutions": Row(lambda: modules.Convolutions(norm=False), _text(IMAGE, REASON="masked"), 1e-2),
    "convolutions, approximate": Row(lambda: modules.Convolutions(norm=False), _text(IMAGE, REASON="approximate")),
    "convolutions, group norm": Row(lambda: modules.Convolutions(norm=True), _text(IMAGE, REASON="masked"), 1e-1),
    "batch norm, eval": Row(lambda: modules.Normed().eval(), BATCH),
    "batch norm, train": Row(lambda: modules.Normed().train(), BATCH, 1e-1),
    "vit": Row(modules.Vit, PATCHES, 1e-2),
    "graph, dummy node": Row(modules.Graph, _text(GRAPH, RULE="N_pad > N, G_pad > G", DUMMY="N_pad - 1")),
    "graph, no dummy node": Row(modules.Graph, _text(GRAPH, RULE="G_pad > G or N_pad == N", DUMMY="N_pad - 1"), 1e-2),
    "graph, node 0": Row(modules.Graph, _text(GRAPH, RULE="N_pad > N, G_pad > G", DUMMY="0"), 1e-2),
    "jagged, extra segment": Row(modules.Jagged, _lines(JAGGED, RULE="where B_pad > B or T_pad == T")),
    "jagged, stretched": Row(modules.Bags, STRETCHED, 1e-2),
    "quantized, 1e3": Row(modules.Quantized, _text(QUANTIZED, FILL="1e3", REASON="neutral"), 1e-1),
    "quantized, 0": Row(modules.Quantized, _text(QUANTIZED, FILL="0", REASON="neutral")),
    "lstm, outputs": Row(modules.Recurrent, _recurrent("drop return[1]")),
    "lstm, last state": Row(modules.Recurrent, _recurrent(""), 1e-2),
    "lstm, bidirectional": Row(lambda: modules.Recurrent(bidirectional=True), _recurrent("drop return[1]", 2), 1e-2),
}
