"""Where the value of an expression goes, by the names it is bound to: whether all of it are converted specs.

A definition may be edited only then. In doubt it may not: it stays, and a new one is written beside it.

Before::

    rows = Dim("rows")
    export(net, args, dynamic_shapes={"a": {0: rows}})      # covered
    print(rows)                                             # not: so `rows` stays a Dim
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from .draft import File

if TYPE_CHECKING:
    import libcst as cst

_STORES: Final = frozenset(("update", "setdefault", "append", "extend", "insert", "pop"))  # methods that give nothing


class Flow:
    """Follows values, after all edits of an attempt are planned."""

    def __init__(self, file: File) -> None:
        from .dead import Stretches, gone_spans

        self._file = file
        self._scopes = file.scopes
        self._gone = Stretches(gone_spans(file.plan))
        self._seen: dict[tuple[cst.CSTNode, bool], bool] = {}

    def is_converted(self, node: cst.CSTNode, *, holds: bool = False) -> bool:
        """Returns whether every use of what ``node`` gives is part of a converted spec, or gone.

        Args:
            node: An expression.
            holds: Whether it is asked of what ``node`` holds: then what only stores into it is no use.
        """
        if node in self._file.covered:
            return True
        key = node, holds
        if key not in self._seen:
            self._seen[key] = True  # a loop adds no use of its own
            self._seen[key] = self._goes(node, holds)
        return self._seen[key]

    def _goes(self, node: cst.CSTNode, holds: bool) -> bool:
        import libcst as cst

        above = self._scopes.parent(node)
        match above:
            case cst.IfExp(test=test):
                return holds if node is test else self.is_converted(above, holds=holds)
            case cst.BooleanOperation() | cst.BinaryOperation() | cst.UnaryOperation():
                return self.is_converted(above, holds=holds)
            case cst.NamedExpr(target=cst.Name() as name):
                return self.is_converted(above, holds=holds) and self._named([name], holds)
            case cst.Assign(targets=targets):
                return all(self._assigned(target.target, holds) for target in targets)
            case cst.AnnAssign(target=target):
                return self._assigned(target, holds)
            case cst.Element() | cst.DictElement() | cst.StarredElement() | cst.StarredDictElement():
                return self._part(node, above)
            case cst.Arg():
                return self._argument(above, holds)
            case cst.Return() | cst.Lambda():
                return self._returned(node, above, holds)
            case cst.Param(default=default, name=name) if default is node:
                return self._named([name], holds)
            case cst.Expr() | cst.Del():
                return True
            case cst.If(test=test) | cst.Comparison(left=test) if test is node:
                return holds  # whether there is something in it, or it is None
            case cst.Subscript(value=value) if value is node and holds:
                return isinstance(self._scopes.parent(above), cst.AssignTarget | cst.Del)
            case cst.Attribute(value=value, attr=cst.Name(value=name)) if value is node and holds:
                call = self._scopes.parent(above)
                if not isinstance(call, cst.Call) or call.func is not above:
                    return False
                if name == "copy":
                    return self.is_converted(call, holds=True)
                return name in _STORES and isinstance(self._scopes.parent(call), cst.Expr)
            case _:
                return self._is_gone(node)

    def _assigned(self, target: cst.CSTNode, holds: bool) -> bool:
        """Returns where it goes from a name or a subscript that it is assigned to."""
        import libcst as cst

        if isinstance(target, cst.Subscript):
            return isinstance(target.value, cst.Name) and self._used(target.value, True)
        if isinstance(target, cst.Attribute):
            return self._read(target.attr.value, holds)
        names = self._names(target)
        return names is not None and self._named(names, holds)

    def _is_gone(self, node: cst.CSTNode) -> bool:
        return self._gone.holds(self._file.plan.tree.extent(node))

    def _names(self, target: cst.CSTNode) -> list[cst.CSTNode] | None:
        import libcst as cst

        match target:
            case cst.Name():
                return [target]
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                found = [element.value for element in elements if isinstance(element, cst.Element)]
                return (
                    list(found) if len(found) == len(elements) and all(isinstance(x, cst.Name) for x in found) else None
                )
            case _:
                return None

    def _named(self, names: Iterable[cst.CSTNode], holds: bool = False) -> bool:
        """Returns whether every use of these names, which are bound here, is converted or gone."""
        return all(self._used(name, holds) for name in names)

    def _used(self, name: cst.CSTNode, holds: bool) -> bool:
        import libcst as cst

        scope = self._scopes.scope(name)
        if scope is None or not isinstance(name, cst.Name) or self._scopes.is_reflective:
            return False
        if scope is self._scopes.top and name.value in self._scopes.exported:
            return False
        if type(scope).__name__ == "ClassScope" and not self._read(name.value, holds):
            return False
        for binding in scope[name.value]:
            for access in binding.references:
                node = access.node
                if node is name or self._is_gone(node):
                    continue
                if not isinstance(node, cst.Name) or not self.is_converted(node, holds=holds):
                    return False
        return True

    @cached_property
    def _attributes(self) -> dict[str, list[cst.Attribute]]:
        import libcst as cst

        found: dict[str, list[cst.Attribute]] = {}
        for node in self._scopes.nodes:
            if isinstance(node, cst.Attribute):
                found.setdefault(node.attr.value, []).append(node)
        return found

    def _read(self, name: str, holds: bool) -> bool:
        """Returns whether every attribute of a name, of whatever object, is converted, gone, or set."""
        import libcst as cst

        spelled = self._scopes.spelled
        if spelled is None or name in spelled:
            return False
        for node in self._attributes.get(name, ()):
            is_set = isinstance(self._scopes.parent(node), cst.AssignTarget | cst.AnnAssign)
            if not is_set and not self._is_gone(node) and not self.is_converted(node, holds=holds):
                return False
        return True

    def _part(self, node: cst.CSTNode, element: cst.CSTNode) -> bool:
        """Returns where an element of a display goes that no spec shows: to the names of an unpacking, or with it."""
        import libcst as cst

        if self._is_gone(node):
            return True
        display = self._scopes.parent(element)
        assign = self._scopes.parent(display) if isinstance(display, cst.Tuple) else None
        if isinstance(assign, cst.Assign) and isinstance(display, cst.Tuple):
            at = next(index for index, each in enumerate(display.elements) if each is element)
            unpacked = [self._names(target.target) for target in assign.targets]
            if all(names is not None and len(names) == len(display.elements) for names in unpacked):
                return self._named([names[at] for names in unpacked if names is not None])
        return display is not None and self.is_converted(display, holds=True)

    def _argument(self, arg: cst.Arg, holds: bool) -> bool:
        """Returns where an argument goes: into the parameter of a function that the file defines."""
        import libcst as cst

        call = self._scopes.parent(arg)
        if self._is_gone(arg.value):
            return True
        if not isinstance(call, cst.Call):
            return False
        match call.func:
            case cst.Name(value="dict" | "list" | "tuple"):
                return self.is_converted(call, holds=True)
            case cst.Attribute(value=cst.Name() as name, attr=cst.Name(value=method)) if method in _STORES:
                return self._used(name, True)
            case _:
                pass
        if not isinstance(call.func, cst.Name) or arg.star:
            return False
        scope = self._scopes.scope(call.func)
        bindings = list(scope[call.func.value]) if scope is not None else []
        function = getattr(bindings[0], "node", None) if len(bindings) == 1 else None
        if not isinstance(function, cst.FunctionDef):
            return False
        params = [*function.params.posonly_params, *function.params.params]
        if arg.keyword is not None:
            wanted = arg.keyword.value
            named = [each for each in (*params, *function.params.kwonly_params) if each.name.value == wanted]
        else:
            named = params[call.args.index(arg) :][:1]
        return len(named) == 1 and self._named([named[0].name], holds)

    def _returned(self, node: cst.CSTNode, above: cst.CSTNode, holds: bool) -> bool:
        """Returns where the result of a function goes: to its calls."""
        import libcst as cst

        if isinstance(above, cst.Lambda):
            return above.body is node and self._called(above, holds)
        for each in self._scopes.above(above):
            if isinstance(each, cst.FunctionDef):
                scope = self._scopes.scope(each)
                bindings = [b for b in scope[each.name.value] if getattr(b, "node", None) is each] if scope else []
                if not bindings or each.decorators or each.asynchronous is not None:
                    return False
                return all(self._is_call(access.node, holds) for binding in bindings for access in binding.references)
            if isinstance(each, cst.Lambda):
                return False
        return False

    def _called(self, function: cst.Lambda, holds: bool) -> bool:
        """Returns whether a lambda is bound to one name, and that is only called."""
        import libcst as cst

        above = self._scopes.parent(function)
        match above:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
                scope = self._scopes.scope(target)
                if scope is None:
                    return False
                return all(self._is_call(access.node, holds) for each in scope[name] for access in each.references)
            case cst.Call(func=func) if func is function:
                return self.is_converted(above, holds=holds)
            case _:
                return False

    def _is_call(self, node: cst.CSTNode, holds: bool) -> bool:
        import libcst as cst

        if self._is_gone(node):
            return True
        above = self._scopes.parent(node)
        return isinstance(above, cst.Call) and above.func is node and self.is_converted(above, holds=holds)


__all__ = ["Flow"]
