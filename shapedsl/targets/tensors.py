"""What `runtime` must know of torch: its tensor class and its dtypes."""

from __future__ import annotations

import functools
from importlib.util import find_spec

from ..ir.dtypes import DTYPES
from ..runtime.tensors import Tensors


def torch_for(purpose: str) -> Tensors:
    """Returns what a tensor is.

    Raises:
        ImportError: torch is not installed or too old; the message says that ``purpose`` needs it.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"{purpose} needs PyTorch 2.14 or newer: pip install 'shapedsl[torch]'") from None
    try:
        spec = find_spec("torch.fx.experimental.dynamic_spec")
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        raise ImportError(f"{purpose} needs PyTorch 2.14 or newer; this is {torch.__version__}")
    return torch_tensors()


@functools.cache
def torch_tensors() -> Tensors:
    """Returns torch's tensor class and the dtypes that each name and family admits."""
    import torch

    named = {name: getattr(torch, name) for name in DTYPES if hasattr(torch, name)}
    plain = [dtype for dtype in named.values() if isinstance(dtype, torch.dtype)]
    floating = frozenset(dtype for dtype in plain if dtype.is_floating_point)
    complexfloating = frozenset(dtype for dtype in plain if dtype.is_complex)
    integral = frozenset(
        dtype
        for name, dtype in named.items()
        if name.startswith(("int", "uint"))  # bool is a dtype of its own; qint8 and bits8 are not numbers
    )
    dtypes: dict[str, frozenset[object]] = {name: frozenset((dtype,)) for name, dtype in named.items()}
    dtypes.update(
        floating=floating,
        complexfloating=complexfloating,
        integral=integral,
        number=floating | complexfloating | integral,
    )
    return Tensors(
        torch.Tensor,
        dtypes,
        plain=frozenset((torch.nn.Parameter,)),
        symbolic=is_symbolic,
        opaque=is_opaque,
        modes=torch._C._len_torch_dispatch_stack,
    )


def is_symbolic(value: object) -> bool:
    """Returns whether ``value`` is a size that a tracer keeps open, or a tensor of such a size."""
    import torch

    if isinstance(value, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in value.shape)
    return isinstance(value, torch.SymInt)


def is_opaque(value: object) -> bool:
    """Returns whether ``value`` is what ``torch.fx.symbolic_trace`` passes to functions."""
    from torch.fx import Proxy

    return isinstance(value, Proxy)
