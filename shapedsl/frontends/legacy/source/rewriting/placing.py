"""Where new imports are written: beside the import whose names they replace, in the order of modules.

For each place that uses a new name this is the nearest function around it that imports from torch, else the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .branches import Branches
from .deletion import line_end, margin_of
from .imported import Given, module_of
from .scopes import Scopes

if TYPE_CHECKING:
    import libcst as cst

    from .plan import Plan

_WIDTH: Final = 88  # the least that common formatters break lines at


def insert(
    plan: Plan,
    scopes: Scopes,
    given: Sequence[Given],
    lost: Collection[cst.CSTNode],
    missing: Mapping[str, str],
) -> None:
    """Adds imports to a plan.

    Args:
        plan: The file's.
        scopes: Its scopes.
        given: What its imports give.
        lost: Those that lost uses.
        missing: Qualified name → the name that it is used by.
    """
    anchors = _anchors(plan, scopes, given, lost)
    branches = Branches(plan.tree, scopes)
    uses = {
        qualified: [at for at, text in plan.additions() if re.search(rf"(?<![\w.]){re.escape(local)}\b", text)]
        for qualified, local in missing.items()
    }
    chosen = {
        qualified: {_nearest([each for each in anchors if branches.serves(each.statement, at)], at) for at in places}
        for qualified, places in uses.items()
    }
    wanted: dict[cst.CSTNode | None, dict[str, str]] = {}
    for qualified, local in missing.items():
        for statement in _places(chosen[qualified], branches, uses[qualified]):
            wanted.setdefault(statement, {})[qualified] = local
    if None in wanted:  # then the file needs them in any case, and they stand together
        for each in anchors:
            if each.function is None:
                wanted[None] |= wanted.pop(each.statement, {})
    for statement, names in wanted.items():
        _write(plan, scopes, statement, names)


def _places(
    chosen: Collection[_Anchor | None], branches: Branches, uses: Iterable[int]
) -> Collection[cst.CSTNode | None]:
    """Returns the imports beside which one name is imported, of those that are nearest to its uses; None: at the top."""
    top = [each for each in chosen if each is not None and each.function is None]
    first = min(top, key=lambda each: each.start, default=None)
    if first is not None and all(branches.serves(first.statement, at) for at in uses):
        return [first.statement]
    if None in chosen:
        return [None]
    return [each.statement for each in chosen if each is not None]


class _Anchor:
    """An import from torch: beside it others may stand.

    Attributes:
        statement: The import.
        start: Where it begins.
        function: The stretch of the function that it stands in; None at the top of the file.
        has_lost: Whether it gives a name that lost uses.
    """

    def __init__(self, plan: Plan, scopes: Scopes, statement: cst.CSTNode, has_lost: bool) -> None:
        import libcst as cst

        self.statement = statement
        self.start = plan.tree.extent(statement)[0]
        around = next((each for each in scopes.above(statement) if isinstance(each, cst.FunctionDef)), None)
        self.function = None if around is None else plan.tree.extent(around)
        self.has_lost = has_lost


def _anchors(plan: Plan, scopes: Scopes, given: Iterable[Given], lost: Collection[cst.CSTNode]) -> list[_Anchor]:
    import libcst as cst

    found: dict[cst.CSTNode, _Anchor] = {}
    for each in given:
        statement = each.statement
        if statement in found or module_of(statement, each.alias).partition(".")[0] != "torch":
            continue
        if any(
            (isinstance(outer, cst.If) and "TYPE_CHECKING" in plan.tree.code(outer.test))
            or isinstance(outer, cst.ClassDef)
            for outer in scopes.above(statement)
        ):
            continue
        found[statement] = _Anchor(plan, scopes, statement, statement in lost)
    return sorted(found.values(), key=lambda each: each.start)


def _nearest(anchors: Iterable[_Anchor], at: int) -> _Anchor | None:
    """Returns the import beside which a name used at ``at`` is imported."""

    def rank(anchor: _Anchor) -> tuple[bool, int, int]:
        return not anchor.has_lost, -(anchor.function or (-1, 0))[0], anchor.start

    reached = [
        each
        for each in anchors
        if each.start < at and (each.function is None or each.function[0] <= at < each.function[1])
    ]
    return min(reached, key=rank, default=None)


# ------------------------------------------------------------------------------------ writing


def _write(plan: Plan, scopes: Scopes, anchor: cst.CSTNode | None, names: Mapping[str, str]) -> None:
    """Writes imports beside ``anchor``, or behind the imports at the top of the file."""
    run = _run(scopes, anchor) if anchor is not None else _leading(plan)
    modules: dict[str, dict[str, str]] = {}
    for qualified, local in names.items():
        module, _, name = qualified.rpartition(".")
        modules.setdefault(module or qualified, {})[name if module else ""] = local
    for module, wanted in sorted(modules.items()):
        if "" not in wanted and _merge(plan, scopes, anchor, module, wanted):
            continue
        text = _import(module, wanted)
        margin = margin_of(plan.tree.source.text, plan.tree.extent(run[0])[0]) if run else ""
        line = text if len(margin) + len(text) <= _WIDTH else _broken(module, wanted)
        _place(plan, run, module, line)


def _import(module: str, wanted: Mapping[str, str]) -> str:
    if "" in wanted:
        return f"import {module}" + (f" as {wanted['']}" if wanted[""] != module else "")
    return f"from {module} import {', '.join(_parts(wanted))}"


def _parts(wanted: Mapping[str, str]) -> list[str]:
    ordered = sorted(wanted, key=_order)
    return [name if wanted[name] == name else f"{name} as {wanted[name]}" for name in ordered]


def _broken(module: str, wanted: Mapping[str, str]) -> str:
    if "" in wanted:
        return _import(module, wanted)
    return "\n".join([f"from {module} import (", *(f"    {part}," for part in _parts(wanted)), ")"])


def _place(plan: Plan, run: Sequence[cst.CSTNode], module: str, text: str) -> None:
    """Writes an import into a run of them, before the first of a later module."""
    import libcst as cst

    source = plan.tree.source.text
    lines = text.split("\n")
    if not run:  # a file without imports
        body = plan.tree.module.body
        start = plan.tree.extent(body[0])[0] if body else 0
        plan.edit(start, start, text.replace("\n", plan.newline) + plan.newline)
        return
    later = next((each for each in _peers(run, text) if _sort_key(each) > module), None)
    beside = later if later is not None else run[-1]
    if isinstance(beside, cst.SimpleStatementLine) and all(each in plan.deleted for each in beside.body):
        plan.insert_before(beside.body[0], lines)  # takes its place
        return
    start, end = plan.tree.extent(beside)
    margin = margin_of(source, start)
    written = "".join(f"{margin}{line}{plan.newline}" for line in lines)
    if later is not None or not _is_import(beside):  # behind `import torch; x = …` it would be late
        at = start - len(margin)
        plan.edit(at, at, written)
        return
    at = line_end(source, end)
    if at and source[at - 1] not in "\r\n":  # the file's last line has no end
        written = plan.newline + written.removesuffix(plan.newline)
    plan.edit(at, at, written)


def _peers(run: Sequence[cst.CSTNode], text: str) -> Sequence[cst.CSTNode]:
    """Returns the lines that an import is sorted among: a ``from`` behind plain imports, if these come first."""
    import libcst as cst

    is_plain = [isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Import) for line in run]
    first = is_plain.index(False) if False in is_plain else len(run)
    return run if text.startswith("import ") or any(is_plain[first:]) else run[first:]


def _is_import(line: cst.CSTNode) -> bool:
    """Returns whether a line does nothing but import, or is a docstring."""
    import libcst as cst

    small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    kinds = (cst.Import, cst.ImportFrom)
    return bool(small) and (all(isinstance(each, kinds) for each in small) or isinstance(small[0], cst.Expr))


def _sort_key(line: cst.CSTNode) -> str:
    import libcst as cst

    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return module_of(first) if isinstance(first, (cst.Import, cst.ImportFrom)) else ""


def _run(scopes: Scopes, anchor: cst.CSTNode) -> list[cst.CSTNode]:
    """Returns the lines around an import that import from torch as well, without a gap between them."""
    import libcst as cst

    line = scopes.parent(anchor)
    block = scopes.parent(line) if line is not None else None
    if line is None or not isinstance(block, (cst.Module, cst.IndentedBlock)):
        return [line if line is not None else anchor]
    body = list(block.body)
    first = last = next(at for at, each in enumerate(body) if each is line)
    while first > 0 and _is_torch(body[first - 1]) and not getattr(body[first], "leading_lines", ()):
        first -= 1
    while last + 1 < len(body) and _is_torch(body[last + 1]) and not getattr(body[last + 1], "leading_lines", ()):
        last += 1
    return list(body[first : last + 1])


def _is_torch(line: cst.CSTNode) -> bool:
    return _sort_key(line).partition(".")[0] == "torch"


def _leading(plan: Plan) -> list[cst.CSTNode]:
    """Returns the imports at the top of a file; the docstring, where there are none."""
    import libcst as cst

    found: list[cst.CSTNode] = []
    for index, line in enumerate(plan.tree.module.body):
        first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if first is None or not _is_import(line):
            break
        is_import = isinstance(first, (cst.Import, cst.ImportFrom))
        is_text = index == 0 and isinstance(getattr(first, "value", None), (cst.SimpleString, cst.ConcatenatedString))
        if not is_import and not is_text:
            break
        found = [line]
    return found


def _merge(plan: Plan, scopes: Scopes, anchor: cst.CSTNode | None, module: str, wanted: Mapping[str, str]) -> bool:
    """Adds names to an import of their module that stands in the same block; tells whether there is one."""
    import libcst as cst

    line = scopes.parent(anchor) if anchor is not None else None
    block = scopes.parent(line) if line is not None else plan.tree.module
    if not isinstance(block, (cst.Module, cst.IndentedBlock)):
        return False
    for each in block.body:
        for small in each.body if isinstance(each, cst.SimpleStatementLine) else ():
            if not isinstance(small, cst.ImportFrom) or isinstance(small.names, cst.ImportStar):
                continue
            if module_of(small) != module or small in plan.deleted or any(name in plan.deleted for name in small.names):
                continue
            _add(plan, small.names, _parts(wanted))
            return True
    return False


def _add(plan: Plan, names: Sequence[cst.ImportAlias], parts: Sequence[str]) -> None:
    """Writes names into an import in their order, each on a line of its own if the others have one."""
    text = plan.tree.source.text
    for part in parts:
        later = next((each for each in names if _order(plan.tree.code(each)) > _order(part)), None)
        start, end = plan.tree.extent(later if later is not None else names[-1])
        margin = margin_of(text, start)
        gap = f",{plan.newline}{margin}" if margin else ", "
        if later is not None:
            plan.edit(start, start, part + gap)
        else:
            plan.edit(end, end, gap + part)


def _order(part: str) -> tuple[str, str]:
    return part.lower(), part


__all__ = ["insert"]
