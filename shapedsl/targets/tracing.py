"""Is this very call part of a trace? Then sizes are symbols, guards are the tracer's, and nothing is checked.

``torch.compiler.is_compiling()`` reads a flag of the whole process: while one thread compiles, it says
yes in every other, whose calls would run unchecked. Two facts are true inside a trace only:

- dynamo replaces ``torch.compiler.is_dynamo_compiling()`` by True in the frames that it traces, and
  nowhere else; so it must be written where dynamo sees it, in the code that asks.
- make_fx and non-strict export run the function under dispatch modes of this thread.

After (the generated code; names shortened)::

    if is_dynamo_compiling() or (dispatch_modes() or function_modes()) and is_traced(): …

The two counts are zero in a plain call, and cost what a C function costs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._guards import TracingContext
from torch.fx._symbolic_trace import _get_is_fx_tracing as is_fx_tracing
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from ..runtime.code import Code


def traced_test(code: Code) -> str:
    """Returns the Python expression that is true inside a trace of the function in which it stands.

    Args:
        code: That function.
    """
    dynamo = code.use(torch.compiler.is_dynamo_compiling, "is_dynamo_compiling")
    dispatch = code.use(torch._C._len_torch_dispatch_stack, "dispatch_modes")
    function = code.use(torch._C._len_torch_function_stack, "function_modes")
    return f"{dynamo}() or ({dispatch}() or {function}()) and {code.use(is_traced, 'is_traced')}()"


def is_traced() -> bool:
    """Returns whether make_fx or export is running in this thread. A fake or counting mode of the user's is no trace."""
    return get_proxy_mode() is not None or TracingContext.try_get() is not None


def is_symbolically_traced() -> bool:
    """Returns whether ``torch.fx.symbolic_trace`` or one like it runs in this thread: its arguments are proxies."""
    return is_fx_tracing()


def records_gradients() -> bool:
    """Returns whether autograd is on in this thread: programs traced with and without it differ."""
    return torch.is_grad_enabled()


def outside_traces(check: Callable[..., object]) -> Callable[..., None]:
    """Returns ``check`` for calls outside traces, and nothing inside them; dynamo must not come as far as this."""

    def checked(*args: object, **kwargs: object) -> None:
        if not is_traced():
            check(*args, **kwargs)

    return checked
