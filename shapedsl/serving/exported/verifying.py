"""Compare a package with the module that it was made of, before it is saved.

After::

    case large     8 calls, largest error 3e-7 of `return`
    bucket S=64    8 calls, `return[1]` has a relative error of 0.27: it is not saved
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...diagnostics import Diagnostic
from ...ir import Signature
from ...runtime.parameters import Parameter
from ..verifying.calls import Call, Calls
from ..verifying.sampled import Sampled, compared
from ..verifying.samples import given_samples
from ..verifying.wrong import wrong_artifact

_WRONG: Final = ("save the program instead, `aot=False`; or make its sizes `backed`, or let cases pin them",)
_UNKNOWN: Final = ("export with an example that the module takes; or do without, `verify=False`",)


def compared_package(
    label: str,
    target: Callable[..., Any],
    run: Callable[..., Any],
    signature: Signature,
    parameters: Sequence[Parameter],
    calls: Sequence[Call],
) -> Sampled:
    """Returns how a package compares with what it was made of.

    Args:
        label: Of its alternative.
        target: Is right.
        run: The package.
        signature: Their spec.
        parameters: Of both.
        calls: Both are run with.
    """
    return compared(label, target, run, given_samples(signature, Calls(tuple(parameters)), calls))


def wrong_package(found: Sampled, name: str) -> Diagnostic | None:
    """Returns that a package computes something else than the module, or that nobody knows; None if it is right.

    Args:
        found: What was compared.
        name: Of the module's spec.
    """
    if found.passed:
        return None
    helps = _WRONG if found.wrong else _UNKNOWN
    return wrong_artifact(found, name, "the package", helps=helps, original="the module")


__all__ = ["compared_package", "wrong_package"]
