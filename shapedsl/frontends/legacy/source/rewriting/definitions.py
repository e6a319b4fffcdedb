"""What names the variables of one site: a Dim's definition edited in place, a new one above, or none.

Before::

    rows = Dim("rows", min=1, max=None)
    export(net, args, dynamic_shapes=({0: rows, 1: Dim("k")}, {0: Dim("k"), 1: 8 * Dim("h")}))

After (two dims of one name are one size, and have to be one object)::

    rows = ShapeVar("rows", min=1)
    k = ShapeVar("k")
    h_x8 = ShapeVar("h_x8")
    export(net, args, dynamic_shapes=ShapesSpec({"x": TensorSpec([rows, k]), "y": TensorSpec([k, h_x8])}, …))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .....ir import Predicate, quote
from .....ir.walk import free_vars, scalar_sizes, tensor_dims
from ..values import Collection, Dict, DimValue, HintValue, Made, Sequence, Value
from .draft import Draft, ImpossibleError, Stretch
from .texts import Texts
from .variables import Needed, Table

if TYPE_CHECKING:
    import libcst as cst

    from .plan import Plan


def parts_of(value: Value) -> Iterator[Value]:
    """Yields a value and what it holds, each object once."""
    seen: set[int] = set()
    open_ = [value]
    while open_:
        found = open_.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        match found:
            case Dict(entries=entries):
                open_ += [item for _, item in reversed(entries.values())]
            case Sequence(items=items):
                open_ += reversed(items)
            case Collection(entries=entries):
                open_ += [item for _, item, _ in reversed(entries)]
            case Made(args=args) if args is not None:
                open_ += [item for _, item in reversed(args)]
            case _:
                pass


class Dims:
    """The variables of one site, in one choice of branches.

    Attributes:
        table: What they are.
        call: Of the site.
    """

    def __init__(self, draft: Draft, table: Table, world: Value | None, call: cst.CSTNode) -> None:
        self.table = table
        self._draft = draft
        self.call = call
        self._places = draft.file.places
        self._roots: dict[str, dict[cst.CSTNode, DimValue]] = {}
        nodes: list[cst.CSTNode] = []
        for found in parts_of(world) if world is not None else ():
            if isinstance(found, DimValue):
                self._roots.setdefault(found.name, {}).setdefault(found.root, found)
                nodes.append(found.root)
            elif isinstance(found, Dict | Sequence | Collection):
                nodes.append(found.node)
        # What callers build stands elsewhere: a variable is defined above all of it.
        self._above = self._places.above_all([*nodes, call]) or self._places.above_all(nodes)
        self._times = Counter(
            name
            for param in table.params
            for dim in (*tensor_dims(param.type), *scalar_sizes(param.type))
            for name in free_vars(dim)
        )
        self._times.update(name for each in table.assumptions for name in free_vars(each))

    # -------------------------------------------------------------------------------------- texts

    def at(self, node: cst.CSTNode) -> Texts:
        """Returns what writes specs where ``node`` stands."""
        return Texts(self._draft.file.plan.need, lambda name: self.name(name, node))

    def assumption(self, predicate: Predicate, node: cst.CSTNode) -> str:
        """Returns a predicate as it is written where ``node`` stands."""
        return self.at(node).assumption(predicate)

    def keeps(self, value: DimValue) -> bool:
        """Returns whether an expression over a dim may stay, because the dim's definition becomes the variable's."""
        needed = self.table.variables.get(value.name)
        roots = self._roots.get(value.name, {})
        if needed is None or len(roots) != 1:
            return False
        if self._times[value.name] > 1 and self._places.is_repeated(value.root, self.call):
            return False
        return self._become(value.root, needed)

    def hinted(self, value: HintValue, name: str) -> None:
        """Edits a call that makes a hint into one that makes a variable, with the bounds as they are written.

        Raises:
            ImpossibleError: Another place needs another variable of it, or its bounds are not written there.
        """
        import libcst as cst

        plan = self._draft.file.plan
        needed = self.table.variables[name]
        call = value.node
        args = call.args if isinstance(call, cst.Call) else ()
        said = {"min": needed.low, "max": needed.high}
        parts = [quote(name)]
        for arg in args:
            bound = arg.keyword.value if arg.keyword is not None else ""
            if bound in value.open:
                parts.append(f"{bound}={plan.tree.source.text[slice(*plan.outer(arg.value))]}")
            elif bound in said and said[bound] is not None:
                parts.append(f"{bound}={said[bound]}")
        written = {arg.keyword.value for arg in args if arg.keyword is not None}
        if len(written) != len(args) or not written >= set(value.open) or self._times[name] != 1:
            raise ImpossibleError(f"a bound of `{name}` is not known, and it cannot be edited where it stands")
        text = f"{plan.need(needed.class_name)}({', '.join(parts)})"
        self._draft.edit(call, [(*plan.outer(call), text)], needed.class_name)

    def name(self, name: str, node: cst.CSTNode) -> str:
        """Returns an expression that gives a variable where ``node`` stands.

        Raises:
            ImpossibleError: No place for its definition is above all of its uses.
        """
        needed = self.table.variables[name]
        text = Texts(self._draft.file.plan.need, lambda name: name).variable(needed)
        for root in self._roots.get(needed.root or "", ()):
            defined = self._places.defined(root, self._index(root, needed.root or ""))
            if defined is None or not self._places.sees(node, defined):
                continue
            if self._roots[needed.root or ""][root].open:
                break
            if self._become(root, needed):
                return defined.value
            statement = self._places.statement(root)
            if statement is not None:
                return self._draft.define(needed, statement, text, f"{name}_var")
        opened = next((each for each in self._roots.get(needed.root or "", {}).values() if each.open), None)
        if opened is not None:
            return self._at_its_place(opened, needed, node)
        if name in self.table.open:
            raise ImpossibleError(f"a bound of `{name}` is not known, and it cannot be edited where it stands")
        if self._times[name] == 1:
            return text
        statement = self._above or self._places.statement(self.call)
        if statement is None or not self._places.is_above(statement, node):
            raise ImpossibleError("no definition is seen by all of its uses")
        return self._draft.define(needed, statement, text, name)

    def _at_its_place(self, value: DimValue, needed: Needed, node: cst.CSTNode) -> str:
        """Returns the name of a variable whose bounds are not known: they are evaluated where, and when, they were.

        Raises:
            ImpossibleError: That place gives no name that is seen where ``node`` stands, and still means it.
        """
        defined = self._places.defined(value.root, self._index(value.root, value.name))
        if (
            defined is not None
            and self._places.sees(node, defined)
            and self._places.is_once(value.root, node)
            and self._become(value.root, needed)
        ):
            return defined.value
        raise ImpossibleError(f"a bound of `{value.name}` is not known, and it cannot be edited where it stands")

    # -------------------------------------------------------------------------------------- roots

    def _become(self, root: cst.CSTNode, needed: Needed) -> bool:
        """Edits the call that makes a dim; returns whether it could be."""
        import libcst as cst

        if not isinstance(root, cst.Call):
            return False
        several = self._is_several(root)
        try:
            if several:
                self._draft.edit(root, self._several(root, needed))
            else:
                self._draft.edit(root, self._one(root, needed), needed.class_name)
        except ImpossibleError:
            return False
        return True

    def _is_several(self, root: cst.Call) -> bool:
        import libcst as cst

        match root.func:
            case cst.Attribute(attr=cst.Name(value=name)):
                return name == "dims"
            case cst.Name(value=name) as node:
                scope = self._draft.file.scopes.scope(node)
                for binding in scope[name] if scope is not None else ():
                    found = getattr(binding, "node", None)
                    for alias in getattr(found, "names", ()) if not isinstance(found, cst.Name) else ():
                        if (
                            isinstance(alias, cst.ImportAlias)
                            and (alias.evaluated_alias or alias.evaluated_name) == name
                        ):
                            return alias.evaluated_name == "dims"
                return name == "dims"
            case _:
                return False

    def _index(self, root: cst.CSTNode, name: str) -> int | None:
        """Returns which of the results of ``dims("a", "b")`` a dim is; None for what makes one alone."""
        import libcst as cst

        if not isinstance(root, cst.Call) or not self._is_several(root):
            return None
        for at, arg in enumerate(root.args):
            if isinstance(arg.value, cst.SimpleString) and arg.value.evaluated_value == name:
                return at
        return len(root.args)

    def _one(self, root: cst.Call, needed: Needed) -> list[Stretch]:
        """Returns the edits of ``Dim("b", min=1, max=inf)``."""
        plan = self._draft.file.plan
        wanted = {"min": needed.low, "max": needed.high, "optimization_hint": needed.hint}
        value = self._roots[needed.root or ""][root]
        as_said = {"min": value.low, "max": value.high}
        stretches: list[Stretch] = [(*plan.outer(root.func), plan.need(needed.class_name))]
        at = 0
        for index, arg in enumerate(root.args):
            end = plan.outer(arg.value)[1]
            keyword = arg.keyword.value if arg.keyword is not None else "name" if index == 0 else ""
            if arg.star or keyword not in ("name", "min", "max"):
                return self._anew(root, needed)
            if keyword in value.open:
                wanted.pop(keyword)
            elif keyword != "name":
                bound = wanted.pop(keyword)
                text = plan.tree.source.text[slice(*plan.outer(arg.value))]
                if bound is None and text != "0" and at:
                    stretches.append(_without(plan, arg, at, end))
                elif bound is not None and bound != as_said[keyword]:
                    stretches.append((*plan.outer(arg.value), str(bound)))
            at = end
        first = root.args[0].keyword if root.args else None
        if not at or (first is not None and first.value != "name") or wanted.keys() & set(value.open):
            return self._anew(root, needed)
        added = "".join(f", {name}={bound}" for name, bound in wanted.items() if bound is not None)
        return [*stretches, (at, at, added)] if added else stretches

    def _anew(self, root: cst.Call, needed: Needed) -> list[Stretch]:
        if self._roots[needed.root or ""][root].open:
            raise ImpossibleError("its bounds are not known")
        plan = self._draft.file.plan
        return [(*plan.outer(root), Texts(plan.need, lambda name: name).variable(needed))]

    def _several(self, root: cst.Call, needed: Needed) -> list[Stretch]:
        """Returns the edit of ``dims("a", "b", max=8)``, which is written as a tuple."""
        import libcst as cst

        plan = self._draft.file.plan
        value = self._roots[needed.root or ""][root]
        names: list[str] = []
        for arg in root.args:
            if arg.keyword is None:
                if not isinstance(arg.value, cst.SimpleString) or arg.star:
                    raise ImpossibleError("its names are not written out")
                names.append(str(arg.value.evaluated_value))
        opened = [
            (arg.keyword.value, arg.value) for arg in root.args if arg.keyword and arg.keyword.value in value.open
        ]
        if len(opened) != len(value.open) or not all(isinstance(bound, cst.Name) for _, bound in opened):
            raise ImpossibleError("its bounds would be evaluated several times")
        tail = "".join(f", {name}={plan.tree.code(bound)}" for name, bound in opened)
        if needed.class_name != "ShapeVar" or needed.hint is not None:
            raise ImpossibleError("an int and a size are made by one call")
        texts = Texts(plan.need, lambda name: name)
        low = value.low or None
        made = [texts.variable(Needed(name, "ShapeVar", low, value.high)) for name in names]
        text = ", ".join(f"{each.removesuffix(')')}{tail})" for each in made)
        if len(names) == 1:
            text += ","
        is_bare = isinstance(self._draft.file.scopes.parent(root), cst.Assign)
        return [(*plan.outer(root), text if is_bare else f"({text})")]


def _without(plan: Plan, arg: cst.Arg, before: int, end: int) -> Stretch:
    """Returns the edit that drops an argument behind another one: its lines, or with the comma before it.

    Args:
        plan: Of the file.
        arg: The argument.
        before: Where the one before it ends.
        end: Where it ends.
    """
    text = plan.tree.source.text
    start = plan.tree.extent(arg)[0]
    line = max(text.rfind("\n", 0, start), before)
    rest = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?=\r?\n)").match(text, end)
    if line > before and not text[line:start].strip() and rest is not None:
        line -= text[line - 1] == "\r"
        return line, rest.end(), ""
    return before, end, ""


__all__ = ["Dims", "parts_of"]
