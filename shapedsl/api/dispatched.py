"""What `dispatch` returns, for type checkers: the function that was given, and what it offers beside being called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from torch.nn import Module as TorchModule

    from ..serving.buckets.check_padding import PaddingReport
    from ..serving.dispatch.stats import Stats
    from ..serving.dispatch.warming import Progress, Warming
    from ..serving.verifying.report import Verification
    from ..targets.entry.lowering import Lowering
    from .spec import Spec

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

Call = tuple[Sequence[Any], Mapping[str, Any]]


class Offered(Protocol):
    """What a dispatched callable offers."""

    @property
    def spec(self) -> Spec:
        """The spec."""
        ...

    @property
    def lowering(self) -> Lowering:
        """How sizes are lowered, and what that does not promise."""
        ...

    def warm(
        self,
        examples: Sequence[Any] | None = None,
        *,
        background: bool = False,
        progress: Progress | bool | None = None,
        seed: int = 0,
    ) -> Warming:
        """Makes every artifact that inputs can be drawn for, and returns what was done; see `serving.dispatch.warming.warm`."""
        ...

    def stats(self) -> Stats:
        """Returns what ran so far: a dict, and printed a table."""
        ...

    def free_buffers(self) -> int:
        """Frees the memory that padding keeps for later calls; returns how many bytes that was."""
        ...

    def check_padding(
        self,
        examples: Iterable[Call] | None = None,
        *,
        n: int | None = None,
        tolerance: float | None = None,
        seed: int = 0,
        sizes: Mapping[str, int] | None = None,
    ) -> PaddingReport:
        """Returns what padding does to results, where that is nothing; see `check_padding`."""
        ...

    def verify(
        self,
        examples: Iterable[Call] | None = None,
        *,
        samples: int | None = None,
        grad: bool = False,
        tolerance: float | None = None,
        seed: int = 0,
    ) -> Verification:
        """Compares all artifacts with the function itself, and gives up those that are wrong; see `verify_dispatched`."""
        ...


class Dispatched(Offered, Protocol[P, R_co]):
    """A dispatched function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Runs the artifact that the sizes of the arguments choose."""
        ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Binds it to an object, where it stands in a class."""
        ...

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Returns which alternative takes a call, what is padded, and which artifact runs; or why it is refused."""
        ...


if TYPE_CHECKING:

    class DispatchedModule(TorchModule, Offered):
        """A dispatched module: a module, with the other's parameters."""

        def explain(self, *args: Any, **kwargs: Any) -> str:
            """Returns which alternative takes a call, what is padded, and which artifact runs; or why it is refused."""
            ...


__all__ = ["Dispatched", "Offered"]
