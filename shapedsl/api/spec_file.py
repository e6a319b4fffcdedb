"""`SpecFile`: the specs of one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..diagnostics import Diagnostic
from ..ir import Module
from ..ir.json import to_json
from ..ir.write import write_module
from .spec import Spec


class SpecFile(Mapping[str, Spec]):
    """The specs of a ``.shapes`` file by name, in file order. Iterating yields names, as any mapping does.

    Attributes:
        diagnostics: Warnings found while it was read.
    """

    __slots__ = ("_specs", "diagnostics")

    def __init__(self, module: Module, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        self._specs = {key: Spec(signature, diagnostics) for key, signature in module.by_key().items()}
        self.diagnostics = diagnostics

    def __getitem__(self, name: str) -> Spec:
        try:
            return self._specs[name]
        except KeyError:
            raise KeyError(f"no spec {name!r}; the file's specs are {', '.join(self._specs) or 'none'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def __str__(self) -> str:
        return write_module(self.module)

    def __repr__(self) -> str:
        return f"<SpecFile {', '.join(self._specs)}>"

    @property
    def module(self) -> Module:
        """The resolved intermediate representation."""
        return Module(tuple(spec.signature for spec in self._specs.values()))

    def to_json(self) -> str:
        """Returns the file as JSON; `from_json` reads it back."""
        return to_json(self.module)
