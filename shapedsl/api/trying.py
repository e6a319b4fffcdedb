"""Find out whether a lower bound of 2 is only what torch assumed: export under 0, and see.

torch traces legacy programs with sizes of at least 2. Whether the trace relied on it, no program tells: one
that branches on a size of 1 took a side without a word, and runs 0 and 1 all the same, maybe wrongly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..diagnostics import ShapeError
from ..ir import Signature
from .entries import export
from .spec import Spec


def failure(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], signature: Signature) -> str | None:
    """Returns why ``fn`` cannot be exported under a spec, as a headline; None if it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            export(fn, tuple(args), dict(kwargs), spec=Spec(signature))
    except ShapeError as error:
        return error.diagnostics[0].message
    except Exception as error:  # whatever torch, or the user's code, has to say
        return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    return None


__all__ = ["failure"]
