"""What is checked: a callable, how it takes its arguments, and where it is run.

After, of ``f(x, mask=None, *rest)`` that is called with ``f(x, y)``::

    arguments   {"x": x, "mask": y}
    values      (x, y, OMITTED)          one a parameter, as what pads takes them
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....ir import Signature
from ....runtime.parameters import OMITTED, Parameter, python_signature
from ....targets.trials import Bench


@dataclass
class Target:
    """What is checked.

    Attributes:
        function: Takes what its parameters say.
        signature: Its spec, not expanded.
        parameters: Its parameters.
        bench: Where it is run.
        name: What messages call it.
        unpad: What cuts outputs back that the spec's types do not, by path.
    """

    function: Callable[..., Any]
    signature: Signature
    parameters: Sequence[Parameter]
    bench: Bench
    name: str
    unpad: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, "Callable[..., Any]"])

    def __post_init__(self) -> None:
        self._python = python_signature(self.parameters)
        self._names = {param.spelled: param.name for param in self.parameters}

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns ``{parameter: value}`` of a call; omitted defaults are left out.

        Raises:
            TypeError: The call does not fit the parameters.
        """
        return {self._names[name]: value for name, value in self._python.bind(*args, **kwargs).arguments.items()}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Returns the result of a call."""
        spelled = {param.spelled: arguments[param.name] for param in self.parameters if param.name in arguments}
        bound = inspect.BoundArguments(self._python, spelled)
        return self.function(*bound.args, **bound.kwargs)

    def values(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """Returns the arguments, one a parameter, as `Padder.call` takes them."""
        return tuple(arguments.get(param.name, OMITTED) for param in self.parameters)

    def eager(self, *values: Any) -> Any:
        """Returns the result of a call that passes one value a parameter."""
        pairs = zip(self.parameters, values, strict=True)
        return self.call({param.name: value for param, value in pairs if value is not OMITTED})


__all__ = ["Target"]
