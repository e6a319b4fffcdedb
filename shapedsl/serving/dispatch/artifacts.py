"""What one artifact of a spec is: which alternative it serves, and what it may assume.

Before::

    def f(x: Tensor[B, S]) -> Tensor[B, S]:
        case one: B == 1
        bucket S in {64, 128} pad x with 0 as rows_independent
        otherwise eager

After::

    case one            B == 1
    bucket S=64         S == 64, B != 1
    bucket S=128        S == 128, B != 1
    otherwise           runs eagerly
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ir import Mode, Signature


@dataclass(frozen=True, slots=True)
class ArtifactSpec:
    """One artifact.

    Attributes:
        position: Of its alternative among `Signature.alternatives`; 0 where a spec has none.
        label: What statistics and messages call it, e.g. ``case one``, ``bucket S=64``.
        mode: How it runs.
        signature: What it may assume, without alternatives: of padded sizes, where they are padded.
        pinned: Bucketed variable → the member that it is padded to, in written order; empty where nothing is
            pinned: without buckets, and where one dynamic artifact is shared.
    """

    position: int
    label: str
    mode: Mode
    signature: Signature = field(compare=False)
    pinned: tuple[tuple[str, int], ...] = ()


__all__ = ["ArtifactSpec"]
