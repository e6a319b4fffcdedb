"""Check names, scopes and kinds of an assembled signature. (Being written.)"""

from __future__ import annotations

from ..diagnostics import Report
from ..ir import Signature


def resolve(signature: Signature, report: Report) -> Signature:
    """Returns ``signature`` unchanged; ``report`` receives what is wrong with its names."""
    return signature
