"""The rows of the table in docs/pythons.md: a spelling, the Python it needs, a module that uses it, and what it says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Spelling:
    """One row.

    Attributes:
        shown: The cell that shows it.
        since: The oldest Python that takes it.
        before: What to write on older ones; "" where there are none.
        source: A module with a function ``f``.
        spec: The text of its spec.
        older: A module that says the same on older Pythons; "" where there are none.
    """

    shown: str
    since: tuple[int, int]
    before: str
    source: str
    spec: str
    older: str = ""


_HEAD = "from shapedsl import Scalar, Tensor, shapes\nfrom shapedsl.dims import B, D\n"

SPELLINGS = (
    Spelling(
        "`Tensor[B, D]`, `Tensor[B, D] \\| None`, `list[Tensor[B]]`",
        (3, 10),
        "",
        _HEAD + "def f(x: Tensor[B, D] | None, y: list[Tensor[B]]): ...",
        "def f(x: Tensor[B, D] | None, y: [Tensor[B], ...]): ...",
    ),
    Spelling(
        "`from __future__ import annotations`",
        (3, 10),
        "",
        "from __future__ import annotations\n" + _HEAD + "def f(x: Tensor[B, Q] | None): ...",
        "def f(x: Tensor[B, Q] | None): ...",
    ),
    Spelling(
        "`typing.Required`, `NotRequired`, `Self`, `Unpack`, `TypeVarTuple`",
        (3, 11),
        "`typing_extensions`",
        _HEAD
        + "from typing import NotRequired, TypedDict, Unpack\n"
        + "class K(TypedDict):\n    x: Tensor[B]\n    y: NotRequired[Tensor[B]]\n"
        + "def f(**k: Unpack[K]): ...",
        'def f(**k: {"x": Tensor[B], "y": Tensor[B] | None}): ...',
        _HEAD
        + "from typing_extensions import NotRequired, TypedDict, Unpack\n"
        + "class K(TypedDict):\n    x: Tensor[B]\n    y: NotRequired[Tensor[B]]\n"
        + "def f(**k: Unpack[K]): ...",
    ),
    Spelling(
        "`Tensor[*S, B]` with a `TypeVarTuple`",
        (3, 11),
        '`Tensor[L["*S, B"]]`',
        _HEAD + "from typing_extensions import TypeVarTuple\nS = TypeVarTuple('S')\ndef f(x: Tensor[*S, B]): ...",
        "def f(x: Tensor[*S, B]): ...",
        _HEAD + "from typing import Literal as L\ndef f(x: Tensor[L['*S, B']]): ...",
    ),
    Spelling(
        "`def f[B, *S]` and `Tensor[*S, B]`",
        (3, 12),
        "names of `shapedsl.dims`, a `TypeVarTuple`",
        _HEAD + "def f[B, *S](x: Tensor[*S, B]): ...",
        "def f(x: Tensor[*S, B]): ...",
        _HEAD + "def f(x: Tensor['*S', B]): ...",
    ),
    Spelling(
        "`type Pair = tuple[Tensor[B], Tensor[B]]`",
        (3, 12),
        "`Pair = tuple[Tensor[B], Tensor[B]]`",
        _HEAD + "type Pair = tuple[Tensor[B], Tensor[B]]\ndef f(x: Pair): ...",
        "def f(x: (Tensor[B], Tensor[B])): ...",
        _HEAD + "Pair = tuple[Tensor[B], Tensor[B]]\ndef f(x: Pair): ...",
    ),
    Spelling(
        "`typing.ReadOnly`",
        (3, 13),
        "`typing_extensions`",
        _HEAD + "from typing import ReadOnly, TypedDict\n"
        "class K(TypedDict):\n    x: ReadOnly[Tensor[B]]\ndef f(k: K): ...",
        'def f(k: {"x": Tensor[B]}): ...',
        _HEAD + "from typing_extensions import ReadOnly, TypedDict\n"
        "class K(TypedDict):\n    x: ReadOnly[Tensor[B]]\ndef f(k: K): ...",
    ),
    Spelling(
        "`def f[B = int]`",
        (3, 13),
        "`def f[B]`",
        _HEAD + "def f[B = int](x: Tensor[B]): ...",
        "def f(x: Tensor[B]): ...",
        _HEAD + "def f(x: Tensor[B]): ...",
    ),
    Spelling(
        "names that are defined later, unquoted",
        (3, 14),
        "quotes, or `from __future__ import annotations`",
        _HEAD + "def f(x: Later): ...\nLater = Tensor[B]",
        "def f(x: Tensor[B]): ...",
        _HEAD + "def f(x: 'Later'): ...\nLater = Tensor[B]",
    ),
)
