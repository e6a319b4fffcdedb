"""Write converted specs back into the file that held the legacy ones.

A site is edited where its spec stands, if every other use of what is edited is converted too; else its spec is
written anew at the call, and what built it is deleted if nothing else needs it. What neither way can do is kept.
An attempt that finds a use it did not know of is made again without the edit, so the result is the largest one.

Before::

    rows = Dim("rows", min=1, max=64)
    ep = export(Scale(), args, dynamic_shapes={"a": {0: rows}, "w": {0: rows}})

After::

    rows = ShapeVar("rows", min=1, max=64)
    ep = export(Scale(), args, dynamic_shapes=ShapesSpec({"a": TensorSpec([rows, None]), "w": TensorSpec([rows])}))
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Several
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from .....diagnostics import Report, Source
from ....stubs.tree import Tree, is_python
from ...verdict import Conversion
from ..sites import Site
from ..values import Collection, Constant, Dict, Fork, Sequence, Value
from .annotations import annotate
from .dead import sweep
from .definitions import Dims, parts_of
from .draft import Draft, File, ImpossibleError
from .edits import Edits
from .flow import Flow
from .imports import known, settle
from .layout import folded, line_before
from .places import Places
from .plan import Plan
from .scopes import scopes_of
from .texts import UnsayableError, is_static
from .variables import Table, table

if TYPE_CHECKING:
    import libcst as cst

_OPEN: Final = (
    "give each `Dim` a name, once, and use that alone",
    "write each hint where it stands, with its bounds by keyword",
)
_MOST: Final = 30  # attempts; each leaves at least one more node as it is


def rewrite(tree: Tree, sites: Several[Site], style: Literal["torch", "shapedsl"], report: Report) -> str | None:
    """Returns what the file becomes; None if it stays as it is.

    Args:
        tree: The file.
        sites: What was found in it. Those that cannot be rewritten become kept ones.
        style: What takes a spec's place.
        report: Receives ``legacy-flow`` and ``unknown-rank`` for those.
    """
    frozen: set[cst.CSTNode] = set()
    for _ in range(_MOST):
        open_ = [site for site in sites if site.conversions and not site.kept and not site.only_shapes]
        if not open_:
            return None
        plan = Plan(tree, known(tree))
        scopes = scopes_of(tree)
        file = File(plan, scopes, Places(scopes), frozenset(frozen))
        failed = [site for site in open_ if not _write(file, site, style, report)]
        sweep(plan)
        flow = Flow(file)
        bad = [node for node in file.done if not flow.is_converted(node)]
        if bad:
            frozen |= set(bad)
        elif not failed:
            annotate(file)
            return _finished(plan, open_, report)
    for site in sites:
        if site.conversions and not site.kept and not site.only_shapes:
            _keep(tree, site, UnsayableError("its definitions have too many uses that stay"), report)
    return None


def _finished(plan: Plan, sites: Several[Site], report: Report) -> str | None:
    plan.settle_names()
    settle(plan)
    source = plan.tree.source
    text = folded(plan, plan.apply())
    if not is_python(Source(source.name, text), Report()):
        for site in sites:
            _keep(plan.tree, site, UnsayableError("the result would be no Python"), report)
        return None
    return text if text != source.text else None


def _keep(tree: Tree, site: Site, error: UnsayableError, report: Report) -> None:
    at = site.argument or site.call
    built = [world.node for world in site.worlds if site.is_callers and world.node is not at]
    report.error(
        error.code,
        f"{error.reason}, so the call stays as it is",
        at=tree.span(at),
        also=[(tree.span(node), "built here") for node in dict.fromkeys(built)],
        help=["write the sizes as a tuple, one for each dim"] if error.code == "unknown-rank" else error.helps,
    )
    site.kept.append(error.reason)
    site.conversions = []


def _write(file: File, site: Site, style: Literal["torch", "shapedsl"], report: Report) -> bool:
    """Plans the edits of one site; returns whether it could be, and else keeps it."""
    try:
        from .shapedsl_style import write_site

        is_ours = style == "shapedsl" and write_site(file.plan, site)  # what it has no way to write is torch's
        if is_ours:
            file.plan.obsolete += _built(site.value)
        else:
            tables = [_table(conversion) for conversion in site.conversions]
            _check_open(site, tables)
            why = _edited(file, site, tables)
            if why and not _wrapped(file, site, tables):
                _anew(file, site, tables, why)
    except UnsayableError as error:
        _keep(file.plan.tree, site, error, report)
        return False
    for node in site.stale:
        file.plan.delete(node)
    keyword = site.argument.keyword if site.argument is not None else None
    if keyword is not None and keyword.value != site.keyword and not is_ours:  # ours wrote the whole argument
        file.plan.edit(*file.plan.tree.extent(keyword), site.keyword)
    return True


def _check_open(site: Site, tables: Several[Table]) -> None:
    """Raises `UnsayableError` where a bound that is not known is of a dim that is no variable any longer."""
    for name, bounds in site.open.items():
        if any(name in found.phantoms for found in tables):
            helps = ("give the bound as a number",)
            raise UnsayableError(f"`{name}` is no size of an input, and its bound `{bounds}` is not known", helps=helps)


def _table(conversion: Conversion) -> Table:
    found = table(conversion.signature)
    if found is None:
        raise UnsayableError("torch has no spec for one of its sizes")
    return replace(found, open=conversion.open)


def _edited(file: File, site: Site, tables: Several[Table]) -> str:
    """Edits the displays of a spec where they stand; returns why that cannot be done, nothing if it was."""
    if site.argument is None or len(site.worlds) != len(tables):
        return "there is none"
    expression = None if site.argument.star else site.argument.value
    draft = Draft(file)
    draft.covered.add(site.argument.value)
    try:
        for world, found in sorted(zip(site.worlds, tables, strict=True), key=_statics):
            Edits(draft, Dims(draft, found, world, site.decorator or site.call)).spec(expression, world)
    except ImpossibleError as error:
        return "something else may read it" if error.node is not None else str(error)
    draft.commit()
    return ""


def _statics(world: tuple[Value, Table]) -> int:
    """Returns how many parameters are static; what is said of one in some branch tells how to write the others."""
    return sum(is_static(param.type) for param in world[1].params)


def _wrapped(file: File, site: Site, tables: Several[Table]) -> bool:
    """Makes a ShapesSpec at the call of a dict that branches build, and edits what the dict holds."""
    if site.argument is None or site.argument.star or len(site.worlds) != len(tables):
        return False
    if len(tables) == 1 and not _may_be_none(site.value):
        return False  # it can be written anew
    draft = Draft(file)
    expression = site.argument.value
    try:
        tails = {
            Edits(draft, Dims(draft, found, world, site.decorator or site.call)).leaves(world)
            for world, found in sorted(zip(site.worlds, tables, strict=True), key=_statics)
        }
        if len(tails) != 1:
            raise ImpossibleError("branches assume different things")
        function = f"{file.plan.need('ShapesSpec')}("
        may_be_none = _may_be_none(site.value)
        some = _some(expression) if may_be_none else expression
        start, end = file.plan.outer(some)
        if may_be_none and some is expression:
            text = file.plan.tree.source.text[start:end]
            function = f"None if {text} is None else {function}"
        draft.covered.add(expression)
        draft.edit(expression, [(start, start, function), (end, end, f"{tails.pop()})")])
    except ImpossibleError:
        return False
    draft.commit()
    return True


def _some(expression: cst.BaseExpression) -> cst.BaseExpression:
    """Returns what an expression gives where it is not None.

    Raises:
        ImpossibleError: That cannot be told without computing it twice.
    """
    import libcst as cst

    match expression:
        case cst.IfExp(body=body, orelse=cst.Name(value="None")):
            return body
        case cst.IfExp(body=cst.Name(value="None"), orelse=orelse):
            return orelse
        case cst.Name():
            return expression
        case _:
            raise ImpossibleError("it is an expression")


def _anew(file: File, site: Site, tables: Several[Table], why: str) -> None:
    """Writes a spec at the call, if that is the place: it cannot be edited where it is built, ``why`` says why not.

    Raises:
        UnsayableError: It cannot be: there are several.
    """
    if site.argument is not None and site.argument.star:
        raise UnsayableError("the spec is among the arguments that `**` unpacks")
    if site.is_callers:
        raise UnsayableError(
            f"the spec is its callers', and cannot be edited where they build it: {why}",
            helps=("make it a ShapesSpec by hand where it is built", "write it at this call"),
        )
    if _may_be_none(site.value):
        raise UnsayableError("whether there is a spec depends on a branch")
    plan = file.plan
    draft = Draft(file)
    texts: dict[str, None] = {}
    for at, found in enumerate(tables):
        world = site.worlds[at] if at < len(site.worlds) else None
        dims = Dims(draft, found, world, site.decorator or site.call)
        try:
            texts[_spec(file, site, dims)] = None
        except ImpossibleError as error:
            raise UnsayableError(str(error), helps=_OPEN if site.open else ()) from None
    if len(texts) != 1:
        raise UnsayableError("the spec depends on a branch, and what it is built of is used elsewhere too")
    (text,) = texts
    if site.argument is None:
        at, before, behind = _spot(plan, site)
        plan.edit(at, at, f"{before}{site.keyword}={text}{behind}")
    else:
        draft.replace(site.argument.value, text)
        draft.covered.add(site.argument.value)
    draft.obsolete |= dict.fromkeys(_built(site.value))
    draft.commit()


def _built(value: Value | None) -> Iterator[cst.CSTNode]:
    """Yields what built a spec: its displays, and the steps that changed them."""
    for found in parts_of(value) if value is not None else ():
        if isinstance(found, Fork):
            for option in found.options:
                yield from _built(option)
        if isinstance(found, Dict | Sequence | Collection):
            yield found.node
        yield from getattr(found, "steps", ())
        if isinstance(found, Collection):
            yield from (statement for _, _, statement in found.entries)


def _spec(file: File, site: Site, dims: Dims) -> str:
    """Returns the spec as it is written at the call."""
    plan = file.plan
    at, before, _ = _spot(plan, site)
    line = (line_before(plan.tree.source.text, at) + before).splitlines()[-1]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    column = len(line.expandtabs(4)) + len(f"{site.keyword}=")
    step = plan.tree.module.default_indent
    return dims.at(dims.call).spec(dims.table, indent=indent, column=column, step=step, newline=plan.newline)


def _spot(plan: Plan, site: Site) -> tuple[int, str, str]:
    """Returns where the argument stands, or is to stand, and what is written before and behind it there."""
    text = plan.tree.source.text
    if site.argument is not None:
        return plan.tree.extent(site.argument)[0], "", ""
    if site.decorator is not None:
        return plan.outer(site.decorator)[1], "(", ")"
    stays = [arg for arg in site.call.args if arg not in site.stale]
    if not stays:
        return text.index("(", plan.outer(site.call.func)[1]) + 1, "", ""
    margin = line_before(text, plan.tree.extent(stays[-1])[0])
    before = ", " if margin.strip() else f",{plan.newline}{margin}"  # on a line of its own, as the one before it
    return plan.outer(stays[-1].value)[1], before, ""


def _may_be_none(value: Value | None) -> bool:
    match value:
        case Constant(value=None):
            return True
        case Fork(options=options):
            return any(map(_may_be_none, options))
        case _:
            return False


__all__ = ["rewrite"]
