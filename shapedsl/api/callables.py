"""How a callable carries a spec, and whether a spec fits it."""

from __future__ import annotations

from typing import Any

from ..diagnostics import Report
from ..ir import AnyType, Signature


def is_module(target: object) -> bool:
    """Returns whether ``target`` is a ``torch.nn.Module``, without importing torch."""
    return hasattr(target, "forward") and hasattr(target, "named_parameters") and not isinstance(target, type)


def plain_function(target: Any) -> Any:
    """Returns the function that carries attributes for ``target``: a method's, a module's ``forward``; else ``target``."""
    function: Any = getattr(target, "forward", target) if isinstance(target, type) or is_module(target) else target
    return getattr(function, "__func__", function)


def carries_torch_spec(target: Any) -> bool:
    """Returns whether ``target`` was decorated with torch's own ``@dynamic_spec``."""
    spec = getattr(plain_function(target), "_dynamic_spec", None)
    return spec is not None and type(spec).__module__.startswith("torch.")


def refuse_receiver(signature: Signature) -> None:
    """Refuses a spec that speaks of the attributes of ``self``: only torch.compile looks at them.

    Raises:
        ShapeError: ``unsupported-by-torch``.
    """
    report = Report()
    for param in signature.params:
        if param.name == signature.receiver and not isinstance(param.type, AnyType):
            report.error(
                "unsupported-by-torch",
                f"attributes of `{param.name}` are taken by compile only, not by export and make_fx",
                at=param.span,
                help=f"pass what `{signature.name}` reads of `{param.name}` as arguments, or use compile",
            )
    report.raise_errors()
