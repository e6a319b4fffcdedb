'''One use, written with this package: the spec as text, where a reader of the call sees it.

Before::

    ep = export(Scale(), args, dynamic_shapes={"a": {0: rows}, "w": {0: rows}}, strict=False)

After::

    ep = sd.export(Scale(), args, spec="""
    def forward(a: Tensor[rows, _], w: Tensor[rows]):
        dim rows in [1, 64]
    """, strict=False)

Where the call has options that `export` or `compile` of this package lack, it stays torch's, and is given the same
text as ``dynamic_shapes=sd.loads("""…""")["forward"].to_torch()``.
'''

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .....diagnostics import Report, Source
from .....ir import Rest, SequenceType, Signature, Type
from .....ir.dims import Ellipsis, Variadic
from .....ir.walk import subtypes, tensor_dims
from .....ir.write import write_signature
from ..sites import Site
from .comments import comments_in
from .deletion import margin_of

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .plan import Plan

_WIDTH: Final = 100  # of a line that holds a whole def
# The options that our own entry points share with torch's, by keyword; those without one, by position.
_EXPORT: Final = frozenset(("args", "kwargs", "strict"))
_COMPILE: Final = frozenset(("backend", "mode", "options", "fullgraph"))


def write_site(plan: Plan, site: Site) -> bool:
    """Plans the edits of one use; tells whether there is a way to write it.

    There is none for a spec that depends on branches, and for bounds that only the program knows.

    Args:
        plan: The file's.
        site: The use; what it makes stale is deleted by others.
    """
    signature = _bare(site.conversions[0].signature)
    if site.open:
        return False
    if any(_bare(each.signature) != signature for each in site.conversions):
        return False
    if site.is_callers or (site.value is not None and _may_be_none(site.value)) or not _loads(signature):
        return False
    if _takes_text(site):
        house = plan.need_module("shapedsl", "sd")
        name = "export" if site.api == "torch.export.export" else "compile"
        plan.replace(site.call.func, f"{house}.{name}")
        _put(plan, site, f"spec={_literal(plan, site, signature)}")
        return True
    example = _example(plan, site, signature)
    if example is None or not (site.argument is None or _is_own(site.argument)):
        return False
    house = plan.need_module("shapedsl", "sd")
    value = f'{house}.loads({_literal(plan, site, signature)})["{signature.name}"].to_torch({example})'
    if site.argument is not None and site.argument.keyword is None:
        plan.replace(site.argument.value, value)
    else:
        _put(plan, site, f"{site.keyword}={value}")
    return True


def _bare(signature: Signature) -> Signature:
    """Returns a spec as a text of its own holds it: without its class, since what is called is at hand."""
    return replace(signature, name=signature.name.rpartition(".")[2] or "f", receiver=None, index=1)


def _may_be_none(value: Value) -> bool:
    from ..values import Constant, Fork

    match value:
        case Constant(value=None):
            return True
        case Fork(options=options):
            return any(map(_may_be_none, options))
        case _:
            return False


def _loads(signature: Signature) -> bool:
    """Returns whether a text can say the spec: Python has more names."""
    from ....text import read

    report = Report()
    read(Source("", write_signature(signature)), report)
    return not report.errors


# --------------------------------------------------------------------------------------- the call


def _takes_text(site: Site) -> bool:
    """Returns whether our own entry point can take the place of the call as it stands."""
    import libcst as cst

    arguments = [each for each in site.call.args if each is not site.argument and each not in _stale(site)]
    if any(each.star for each in arguments) or not (site.argument is None or _is_own(site.argument)):
        return False
    named = {each.keyword.value: each.value for each in arguments if each.keyword is not None}
    positional = len(arguments) - len(named)
    if site.api == "torch.export.export":
        return 1 <= positional <= 3 and named.keys() <= _EXPORT
    if site.api != "torch.compile" or positional > 1 or not named.keys() <= _COMPILE:
        return False
    whole = named.get("fullgraph")  # ours always is; one that may break into several graphs stays torch's
    return isinstance(whole, cst.Name) and whole.value == "True"


def _stale(site: Site) -> set[cst.CSTNode]:
    return set(site.stale)


def _is_own(argument: cst.Arg) -> bool:
    """Returns whether an argument is written at the call, not taken from ``**options``."""
    return argument.star == ""


def _put(plan: Plan, site: Site, text: str) -> None:
    """Writes an argument in the place of the old one, or behind all others."""
    if site.argument is not None:
        plan.replace(site.argument, text)
        return
    staying = [each for each in site.call.args if each not in _stale(site) and each not in plan.deleted]
    if not staying:
        at = plan.tree.extent(site.call)[1] - 1
        plan.edit(at, at, text)
        return
    start, end = plan.tree.extent(staying[-1])
    margin = margin_of(plan.tree.source.text, start)
    plan.edit(end, end, f",{plan.newline}{margin}{text}" if margin else f", {text}")


def _example(plan: Plan, site: Site, signature: Signature) -> str | None:
    """Returns the arguments of ``to_torch``: none where every rank and length is written.

    Returns:
        None where they are needed, and evaluating the call's own ones twice would not be the same.
    """
    if not any(_is_open(param.type) for param in signature.params):
        return ""
    found: list[str] = []
    given: Mapping[str, cst.BaseExpression] = {
        each.keyword.value: each.value for each in site.call.args if each.keyword is not None
    }
    positional = [each.value for each in site.call.args if each.keyword is None and not each.star]
    for index, name in ((1, "args"), (2, "kwargs")):
        value = given.get(name) or (positional[index] if index < len(positional) else None)
        if value is None:
            continue
        if not _is_name(value):
            return None
        found.append(f"{name}={plan.tree.code(value)}" if name == "kwargs" else plan.tree.code(value))
    is_export = site.api != "torch.compile"
    return ", ".join(found) if found and is_export else None


def _is_open(type_: Type) -> bool:
    """Returns whether a type leaves a rank or a length to the example."""
    if any(isinstance(dim, (Ellipsis, Variadic)) for dim in tensor_dims(type_)):
        return True
    repeats = isinstance(type_, SequenceType) and type_.rest is Rest.REPEAT
    return repeats or any(map(_is_open, subtypes(type_)))


def _is_name(node: cst.BaseExpression) -> bool:
    """Returns whether evaluating an expression again gives the same: a name, or a tuple or a dict of names."""
    import libcst as cst

    if isinstance(node, cst.Tuple):
        return all(isinstance(each, cst.Element) and _is_name(each.value) for each in node.elements)
    return isinstance(node, cst.Name)


# --------------------------------------------------------------------------------------- the text


def _literal(plan: Plan, site: Site, signature: Signature) -> str:
    """Returns a string literal: of one line if a def fits there, else of lines that begin at the margin."""
    text = write_signature(signature)
    lines = [line.strip() for line in text.split("\n")]
    one = lines[0] if len(lines) == 1 else f"{lines[0]} {lines[1]}" if len(lines) == 2 else ""
    margin = _indent(plan, site)
    start, end = (0, 0) if site.argument is None else plan.tree.extent(site.argument)
    remarks = comments_in(plan.tree.source.text, start, end)  # of what is replaced: the text has comments too
    if one and not remarks and not ('"' in one or "\\" in one) and len(margin) + len(one) <= _WIDTH - len('spec=""'):
        return f'"{one}"'
    text = "\n".join([*remarks, text])
    body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\n{body}\n"""'.replace("\n", plan.newline)


def _indent(plan: Plan, site: Site) -> str:
    text = plan.tree.source.text
    start = plan.tree.extent(site.call)[0]
    begin = text.rfind("\n", 0, start) + 1
    return text[begin : begin + len(text[begin:start]) - len(text[begin:start].lstrip())]


__all__ = ["write_site"]
