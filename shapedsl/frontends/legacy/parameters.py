"""Which part of a legacy tree is for which parameter.

A dict at the top names parameters, and may name what ``**kwargs`` collects beside them; a list or a tuple gives them
in the order of the signature, whatever order keyword arguments were passed in. ``*args`` is one entry, a sequence;
``**kwargs`` is one, a dict.

Before::

    {"x": {0: n}, "gate": {0: n}}  for  forward(self, x, *extra, **opts)

After::

    x: {0: n};  opts: {"gate": {0: n}}

Source: ``torch/export/dynamic_shapes.py``, ``_normalize_dynamic_shapes`` and ``_check_dynamic_shapes``.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...diagnostics import Report
from ...ir import AnyType, Param, ParamKind
from .model import (
    Derived,
    Entries,
    Hinted,
    Input,
    Items,
    LegacySpec,
    MappingInput,
    Named,
    Pinned,
    Tree,
    UnknownInput,
    Unsaid,
)
from .notes import choice
from .roots import slot, spelled
from .verdict import Note

_COLLECTORS: Final = (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Assigned:
    """What is said of each parameter, in order: its tree (None: nothing) and its input."""

    trees: tuple[tuple[Param, Tree | None, Input], ...]
    notes: tuple[Note, ...] = ()


def by_parameter(spec: LegacySpec, report: Report) -> Assigned | None:
    """Returns what ``spec`` says of each parameter; None if an error was reported."""
    match spec.tree:
        case None | Unsaid():
            return _assigned(spec, list(spec.params or ()), {})
        case Entries(items=items) if items and all(isinstance(key, int) for key, _ in items):
            _top_level(spec, spec.tree, report)
            return None
        case Entries():
            return _by_name(spec, spec.tree, report)
        case Items():
            return _by_position(spec, spec.tree, report)
        case dim:
            report.error(
                "legacy-top-level",
                "a spec is a dict by parameter, or a list or tuple in the order of the signature",
                at=dim.span,
                label="one dim",
            )
            return None


def _top_level(spec: LegacySpec, tree: Entries, report: Report) -> None:
    text = tree.span.text if tree.span is not None else _written(tree)
    by_name = f' or `{{"{spec.params[0].name}": {text}}}`' if spec.params else ""
    report.error(
        "legacy-top-level",
        "the keys of a spec are names of parameters, not axes",
        at=tree.span,
        label="a dict with int keys at the top",
        note="torch.export refuses this spec",
        help=f"did you mean `({text},)`{by_name}?",
    )


def _written(tree: Tree) -> str:
    """Returns a tree as Python, its dims by their names."""
    match tree:
        case Entries(items=entries):
            return f"{{{', '.join(f'{key!r}: {_written(item)}' for key, item in entries)}}}"
        case Items(kind=kind, items=items):
            inside = ", ".join(map(_written, items))
            return f"[{inside}]" if kind == "list" else f"({inside},)" if len(items) == 1 else f"({inside})"
        case Named() | Derived():
            each = slot(tree, "", is_size=True)
            return spelled(each.root.name, each)
        case Hinted(kind=kind):
            return f"Dim.{kind.name}"
        case Pinned(value=value):
            return str(value)
        case Unsaid():
            return "None"


def _by_name(spec: LegacySpec, tree: Entries, report: Report) -> Assigned | None:
    said: dict[str, Tree] = {}
    flat: dict[str, Tree] = {}
    known = None if spec.params is None else {param.name: param for param in spec.params}
    params = list(spec.params or ())
    collector = next((param for param in params if param.kind is ParamKind.VAR_KEYWORD), None)
    errors = len(report.errors)
    for key, item in tree.items:
        if not isinstance(key, str):
            report.error("legacy-parameter", f"`{key}` is no name of a parameter", at=item.span or tree.span)
        elif known is None:
            params.append(Param(key, AnyType(), span=item.span))
            said[key] = item
        elif key in known:
            said[key] = item
        elif collector is not None and _collects(spec, collector, key):
            flat[key] = item
        else:
            _unknown(spec, key, item, tree, list(known), report)
    if collector is not None and flat:
        nested = said.get(collector.name, Unsaid())
        inside = nested.items if isinstance(nested, Entries) else ()
        for key in dict(inside).keys() & flat.keys() or ([] if isinstance(nested, (Entries, Unsaid)) else flat):
            report.error(
                "legacy-parameter",
                f"`{key}` is said at the top and in `{collector.name}`",
                at=flat[str(key)].span or tree.span,
                label="once more",
                note="torch.export refuses this spec",
            )
        said[collector.name] = Entries((*inside, *flat.items()), tree.span)
    if len(report.errors) > errors:
        return None
    return _assigned(spec, params, said, warn_missing=bool(tree.items) and spec.runtime == "export")


def _collects(spec: LegacySpec, collector: Param, key: str) -> bool:
    given = None if spec.inputs is None else spec.inputs.get(collector.name)
    return not isinstance(given, MappingInput) or key in dict(given.entries)


def _unknown(spec: LegacySpec, key: str, item: Tree, tree: Entries, names: Sequence[str], report: Report) -> None:
    close = difflib.get_close_matches(key, names, 1)
    report.error(
        "legacy-parameter",
        f"`{spec.name}` has no parameter `{key}`",
        at=item.span or tree.span,
        label=f"said of `{key}`",
        note=f"its parameters are {', '.join(f'`{name}`' for name in names) or 'none'}",
        help=f"did you mean `{close[0]}`?" if close else "drop the key",
    )


def _by_position(spec: LegacySpec, tree: Items, report: Report) -> Assigned | None:
    if spec.params is None:
        report.error(
            "legacy-parameter",
            f"a {tree.kind} gives the parameters in the order of a signature that is not known",
            at=tree.span,
            label="whose parameters?",
            help="write a dict by parameter, or pass the callable",
        )
        return None
    bound = _bound(spec, spec.params, len(tree.items))
    if len(tree.items) != len(bound):
        report.error(
            "legacy-parameter",
            f"the spec has {_count(len(tree.items))}, and `{spec.name}` gets {len(bound)}",
            at=tree.span,
            label=_count(len(tree.items)),
            note=f"the inputs are {', '.join(f'`{param.name}`' for param in bound) or 'none'}",
        )
        return None
    said = {param.name: item for param, item in zip(bound, tree.items, strict=True)}
    return _assigned(spec, list(spec.params), said)


def _bound(spec: LegacySpec, params: tuple[Param, ...], wanted: int) -> list[Param]:
    """Returns the parameters that get an argument; without an example, as many of the first ones as make sense."""
    if spec.inputs is not None:
        return [param for param in params if param.name in spec.inputs]
    required = [param for param in params if not param.default and param.kind not in _COLLECTORS]
    first = list(params[:wanted])
    return first if all(param in first for param in required) else required


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _assigned(spec: LegacySpec, params: list[Param], said: dict[str, Tree], *, warn_missing: bool = False) -> Assigned:
    inputs = spec.inputs or {}
    trees = tuple((param, said.get(param.name), inputs.get(param.name, UnknownInput())) for param in params)
    missing = [param.name for param, tree, _ in trees if tree is None and param.name in inputs] if warn_missing else []
    notes: tuple[Note, ...] = ()
    if missing:
        message = "torch.export refuses this spec: it leaves out an input"
        at = spec.tree.span if spec.tree is not None else None
        notes = (choice(message, missing, "static", ["dynamic"], span=at),)
    return Assigned(trees, notes)


__all__ = ["Assigned", "by_parameter"]
