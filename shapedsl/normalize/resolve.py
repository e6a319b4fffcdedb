"""Check the names, kinds, hints, divisors and signs of an assembled signature. Nothing is changed.

The frontends have expanded imports, consts, lets and types; what a name *means* is settled. What is
left to check is whether every size can be known, asked and positive:

- `names`: ``unbound-name``, ``duplicate-name``, ``similar-name``
- `paths`: ``unknown-parameter``, and ``unbound-name`` for ranks
- `hints`: ``hint-out-of-range``
- `divisors`: ``maybe-zero-divisor``
- `signs`: ``negative-dim``
- `claims_of_padding`: ``unknown-reason``
"""

from __future__ import annotations

from ..diagnostics import Report
from ..ir import Signature
from .claims_of_padding import check_reasons
from .divisors import check_divisors
from .hints import check_hints
from .names import check_names
from .paths import check_paths
from .signs import check_signs


def resolve(signature: Signature, report: Report) -> Signature:
    """Returns ``signature`` unchanged.

    Args:
        signature: From `frontends.assemble`.
        report: Receives the findings listed above.
    """
    check_names(signature, report)
    check_paths(signature, report)
    check_hints(signature, report)
    check_divisors(signature, report)
    check_signs(signature, report)
    check_reasons(signature, report)
    return signature
