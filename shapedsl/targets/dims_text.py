"""Write what legacy dims say as Python with torch's own names. torch is needed to run it only.

Before::

    roots  B in [1, 64]     x: {0: B}   y: [{0: 2*B + 1}]

After::

    from torch.export import Dim

    B = Dim("B", min=1, max=64)

    f_dynamic_shapes = {
        "x": {0: B},
        "y": [{0: 2 * B + 1}],
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from keyword import iskeyword

from ..ir import quote
from ..ir.legacy import DictDims, DimHint, DimRoot, DimsForm, DimSlot, DimTree, DimUse, ListDims, TensorDims
from .naming import distinct


def write_dims(forms: Sequence[DimsForm]) -> str:
    """Returns one Python module with a ``dynamic_shapes`` for each of ``forms``."""
    names: list[str] = []
    for form in forms:
        last = form.name.rpartition(".")[2]
        unique = sum(each.name.rpartition(".")[2] == last for each in forms) == 1
        base = last if unique else form.name.replace(".", "_")
        numbered = "" if form.index == 1 else f"_{form.index}"
        names.append(distinct(_identifier(f"{base}{numbered}_dynamic_shapes"), names))
    bodies = [_Writer(form, name, names).body() for form, name in zip(forms, names, strict=True)]
    head = "from torch.export import Dim\n" if any("Dim" in body for body in bodies) else ""
    return "\n".join([*([head] if head else []), *bodies])


class _Writer:
    def __init__(self, form: DimsForm, name: str, taken: Iterable[str]) -> None:
        self.form = form
        self.name = name
        self.python: dict[str, str] = {}
        self.called: dict[str, str] = {}
        for root in form.roots:
            # what torch is told must be a name, and two of one name are one
            self.called[root.name] = distinct(_identifier(root.name), self.called.values())
            wish = self.called[root.name]
            wish = f"{wish}_" if iskeyword(wish) else wish
            self.python[root.name] = distinct(wish, {"Dim", *taken, *self.python.values()})

    def body(self) -> str:
        """Returns the statements of one spec."""
        lines = [self._root(root) for root in self.form.roots]
        lines += [""] if lines else []
        if not self.form.params:
            return "\n".join([*lines, f"{self.name} = {{}}", ""])
        lines.append(f"{self.name} = {{")
        lines += [f"    {quote(param.name)}: {self._tree(tree)}," for param, tree in self.form.params]
        return "\n".join([*lines, "}", ""])

    def _root(self, root: DimRoot) -> str:
        options = [quote(self.called[root.name]), *_bounds(root.low, root.high)]
        return f"{self.python[root.name]} = Dim({', '.join(options)})"

    def _tree(self, tree: DimTree) -> str:
        match tree:
            case TensorDims(axes=axes):
                return f"{{{', '.join(f'{axis}: {self._slot(slot)}' for axis, slot in axes)}}}"
            case ListDims(kind="list", items=items):
                return f"[{', '.join(map(self._tree, items))}]"
            case ListDims(items=items):
                texts = [self._tree(item) for item in items]
                return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
            case DictDims(entries=entries):
                return f"{{{', '.join(f'{quote(key)}: {self._tree(item)}' for key, item in entries)}}}"
            case _:
                return self._slot(tree)

    def _slot(self, slot: DimSlot) -> str:
        match slot:
            case DimUse(root=root, factor=factor, offset=offset):
                text = self.python[root] if factor == 1 else f"{factor} * {self.python[root]}"
                return f"{text} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else text
            case DimHint(low=low, high=high):
                bounds = _bounds(low, high)
                return f"Dim.DYNAMIC({', '.join(bounds)})" if bounds else "Dim.DYNAMIC"
            case _:
                return str(slot)


def _bounds(low: int | None, high: int | None) -> list[str]:
    return [*([f"min={low}"] if low else []), *([f"max={high}"] if high is not None else [])]


def _identifier(name: str) -> str:
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "size"
    return f"size_{made}" if made[0].isdigit() else made


__all__ = ["write_dims"]
