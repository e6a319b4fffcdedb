"""Edit the displays that build a spec where they stand, brackets and keys alone, so that comments and layout survive.

Before::

    shapes = {
        "a": {0: rows},  # the batch
        "pair": [{0: rows, 1: Dim.AUTO}, None],
    }

After::

    shapes = ShapesSpec({
        "a": TensorSpec([rows, None]),  # the batch
        "pair": SeqSpec([TensorSpec([rows, ShapeVar("pair_0_1")]), None]),
    })

What cannot be edited (a merge, a display that another use needs as it is) is written anew where it is used; if that
cannot be done either, `ImpossibleError` goes up to what it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .....ir import (
    AnyType,
    Dim,
    Ellipsis,
    MappingType,
    ObjectType,
    Param,
    ParamKind,
    Rest,
    ScalarType,
    SequenceType,
    Static,
    TensorType,
    Type,
    Var,
    quote,
)
from ..values import Constant, Dict, DimValue, HintValue, Sequence, Value
from .definitions import Dims
from .displays import Brackets, Part, brackets, parts
from .draft import Draft, ImpossibleError, Stretch
from .layout import broken, in_lines, is_long, remark
from .texts import is_static, key_of, ranked

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class Edits:
    """Edits for one site, in one choice of branches."""

    draft: Draft
    dims: Dims

    # ------------------------------------------------------------------------------------ the spec

    def spec(self, expression: cst.BaseExpression | None, value: Value) -> None:
        """Turns what a call is given into a ShapesSpec.

        Args:
            expression: What the call holds; None where it comes in ``**options``.
            value: What it is.

        Raises:
            ImpossibleError: It cannot be edited in place.
            UnsayableError: A ShapesSpec cannot say it.
        """
        if expression is not None:
            self.draft.covered.add(expression)
        items, around = self._open(value)
        params = self.dims.table.params
        function = self.draft.file.plan.need("ShapesSpec")
        assumed = [self.dims.assumption(each, value.node) for each in self.dims.table.assumptions]
        tail = f", assumptions=[{', '.join(assumed)}])" if assumed else ")"
        if isinstance(value, Dict):
            named = {param.name for param in params}
            flat = [part for part in items if part.key not in named]
            stretches = around.within(f"{function}(", tail)
            stretches += self._gathered(items, flat, params) if flat else []
            paired = self._by_name([part for part in items if part.key in named], params)
        else:
            flat = []
            stretches = around.instead(f"{function}({{", f"}}{tail}")
            if len(items) > len(params):
                raise ImpossibleError("it is longer than the signature")
            paired = list(zip(items, params, strict=False))
        for part, param in paired:
            stretches += self._keyed(part, key_of(param))
        self.draft.edit(value.node, stretches, "ShapesSpec")
        for part, param in paired:
            self._param(part, param)
        for part in flat:
            self._value(part, _collected(params).get(str(part.key), AnyType()))
        if items and around.opening[0] < around.opening[1] and is_long(self.draft, value.node):
            self.draft.laid_out[value.node] = broken(self.draft.file.plan, items, around, stretches)

    def leaves(self, value: Value) -> str:
        """Edits what a dict holds, however that is built, and leaves the dict; returns what follows it in a ShapesSpec.

        Raises:
            ImpossibleError: Something it holds cannot be edited in place.
            UnsayableError: A ShapesSpec cannot say it.
        """
        if not isinstance(value, Dict):
            raise ImpossibleError("it is no dict")
        held = [Part(key, None, False, item.node, item) for key, (_, item) in value.entries.items()]  # type: ignore[arg-type]
        for part, param in self._by_name(held, self.dims.table.params):
            if key_of(param) != param.name:
                raise ImpossibleError("its key would be another")
            if not (isinstance(part.value, Constant) and part.value.value is None):
                self._value(part, param.type)
                self.draft.covered.discard(part.expression)  # where it goes from there is looked at
        assumed = [self.dims.assumption(each, self.dims.call) for each in self.dims.table.assumptions]
        return f", assumptions=[{', '.join(assumed)}]" if assumed else ""

    def _gathered(self, items: list[Part], flat: list[Part], params: tuple[Param, ...]) -> list[Stretch]:
        """Returns the edits that put a dict around the keyword arguments that `**` collects."""
        at = items.index(flat[0])
        if items[at : at + len(flat)] != flat or not any(param.kind is ParamKind.VAR_KEYWORD for param in params):
            raise ImpossibleError("it names an argument that `**` collects, among others")
        if flat[0].at is None or flat[0].is_keyword:
            raise ImpossibleError("its keys are keywords")
        plan = self.draft.file.plan
        start, end = plan.outer(flat[0].at)[0], plan.outer(flat[-1].expression)[1]
        return [(start, start, '"**kwargs": {'), (end, end, "}")]

    @staticmethod
    def _by_name(items: list[Part], params: tuple[Param, ...]) -> list[tuple[Part, Param]]:
        named = {param.name: param for param in params}
        if any(part.key not in named for part in items):
            raise ImpossibleError("it names an argument that `**` collects")
        return [(part, named[str(part.key)]) for part in items]

    def _keyed(self, part: Part, key: str) -> list[Stretch]:
        """Returns the edits that give an element its key."""
        plan = self.draft.file.plan
        if part.key == key:
            return []
        start = plan.outer(part.expression)[0]
        if part.at is None:
            return [(start, start, f"{quote(key)}: ")]
        if part.is_keyword:
            raise ImpossibleError("its key is a keyword")
        return [(*plan.outer(part.at), quote(key))]

    def _param(self, part: Part, param: Param) -> None:
        texts = self.dims.at(part.expression)
        match param.kind, param.type:
            case ParamKind.VAR_POSITIONAL, SequenceType() as items:
                self._either(part, lambda: self._items(part.value, items, "[", "]"), lambda: texts.items(items))
            case ParamKind.VAR_POSITIONAL, _:
                self._swap(part, "[]")
            case ParamKind.VAR_KEYWORD, MappingType(entries=entries):
                self._either(part, lambda: self._entries(part.value, dict(entries), ""), lambda: texts.entries(entries))
            case ParamKind.VAR_KEYWORD, _:
                self._swap(part, "{}")
            case _, type_:
                self._value(part, type_)

    # ---------------------------------------------------------------------------------- its values

    def _value(self, part: Part, type_: Type) -> None:
        """Turns an input's spec, or a part of it, into torch's."""
        rank = self.draft.ranks.get(part.value.node)
        if rank is not None and isinstance(type_, AnyType):  # all of it is static here, and not in another branch
            type_ = TensorType((Static(),) * rank)
        texts = self.dims.at(part.expression)
        if is_static(type_) and not self._shows(part.value, type_):
            self.draft.covered.add(part.expression)
            if not (isinstance(part.value, Constant) and part.value.value is None):
                self._swap(part, "None")
            return
        need = self.draft.file.plan.need
        match type_:
            case ScalarType(size=size) if size is not None:
                self._slot(part, size)
            case TensorType(dims=dims):
                self._either(part, lambda: self._tensor(part.value, ranked(dims)), lambda: texts.type(type_))
            case SequenceType():
                self._either(
                    part,
                    lambda: self._items(part.value, type_, f"{need('SeqSpec')}([", "])"),
                    lambda: texts.type(type_),
                )
            case MappingType(entries=entries):
                self._either(
                    part,
                    lambda: self._entries(part.value, dict(entries), need("DictSpec")),
                    lambda: texts.type(type_),
                )
            case ObjectType(fields=fields):
                self._either(part, lambda: self._fields(part.value, fields), lambda: texts.type(type_))
            case _:
                texts.type(type_)  # says why not

    @staticmethod
    def _shows(value: Value, type_: Type) -> bool:
        """Returns whether a spec is written for what is static in this choice of branches, and not in another one."""
        if isinstance(value, Dict | Sequence) and value.is_whole and not value.steps:
            holds = value.entries if isinstance(value, Dict) else value.items
            is_known = not isinstance(type_, TensorType) or (
                type_.dims is not None and not any(isinstance(dim, Ellipsis) for dim in type_.dims)
            )
            return bool(holds) and is_known and isinstance(type_, TensorType | SequenceType | MappingType | ObjectType)
        return isinstance(type_, ScalarType) and isinstance(value, DimValue)

    def _either(self, part: Part, edit: Callable[[], None], anew: Callable[[], str]) -> None:
        """Edits a display in place, or else writes it anew where it is used."""
        self.draft.covered.add(part.expression)
        reset = self.draft.mark()
        try:
            edit()
        except ImpossibleError:
            reset()
            self.draft.obsolete[part.value.node] = None
            self._swap(part, anew())

    def _swap(self, part: Part, text: str) -> None:
        """Writes another expression in the place of a part."""
        self.draft.covered.add(part.expression)
        self.draft.replace(self._target(part), text)

    def _target(self, part: Part) -> cst.CSTNode:
        """Returns the branch of an expression that made its value; the whole expression where there are none."""
        import libcst as cst

        node = part.value.node
        while node is not part.expression:
            above = self.draft.file.scopes.parent(node)
            match above:
                case cst.IfExp(body=body, orelse=orelse) if node in (body, orelse):
                    node = above
                case cst.NamedExpr(value=value) if node is value:
                    node = above
                case _:
                    return part.expression
        return part.value.node

    def _items(self, value: Value, type_: SequenceType, opening: str, closing: str) -> None:
        items, around = self._open(value)
        if not isinstance(value, Sequence) or type_.rest is Rest.REPEAT or type_.times is not None:
            raise ImpossibleError("it is no list")
        if len(items) != len(type_.items) or around.is_call:
            raise ImpossibleError("it is another list")
        self.draft.edit(value.node, around.instead(opening, closing))
        for part, inner in zip(items, type_.items, strict=True):
            self._value(part, inner)

    def _entries(self, value: Value, entries: Mapping[str | int, Type], function: str) -> None:
        items, around = self._open(value)
        if not isinstance(value, Dict) or any(part.key not in entries for part in items):
            raise ImpossibleError("it is another dict")
        self.draft.edit(value.node, around.within(f"{function}(", ")") if function else [])
        for part in items:
            self._value(part, entries[part.key])  # type: ignore[index]  # it is one of them

    def _fields(self, value: Value, fields: tuple[tuple[str, Type], ...]) -> None:
        """Turns a namedtuple, or the list of what a registered object holds, into an ObjectSpec."""
        items, around = self._open(value)
        if not isinstance(value, Sequence) or len(items) != len(fields):
            raise ImpossibleError("it holds something else")
        types = dict(fields)
        names = [str(part.key) if part.is_keyword else name for part, (name, _) in zip(items, fields, strict=True)]
        if set(names) != set(types):
            raise ImpossibleError("its fields are others")
        plan = self.draft.file.plan
        stretches = around.instead(f"{plan.need('ObjectSpec')}({{", "})")
        for part, name in zip(items, names, strict=True):
            start = plan.outer(part.expression)[0]
            begin = start if part.at is None else plan.outer(part.at)[0]
            stretches.append((begin, start, f"{quote(name)}: "))
        self.draft.edit(value.node, stretches)
        for part, name in zip(items, names, strict=True):
            self._value(part, types[name])

    # ---------------------------------------------------------------------------------- its tensors

    def _tensor(self, value: Value, dims: tuple[Dim, ...]) -> None:
        items, around = self._open(value)
        self.draft.ranks[value.node] = len(dims)
        opening, closing = f"{self.draft.file.plan.need('TensorSpec')}([", "])"
        if isinstance(value, Sequence):
            if len(items) != len(dims) or around.is_call:
                raise ImpossibleError("it has another rank")
            self.draft.edit(value.node, around.instead(opening, closing), "TensorSpec")
            for part, dim in zip(items, dims, strict=True):
                self._slot(part, dim)
            return
        axes = [part.key + len(dims) if isinstance(part.key, int) and part.key < 0 else part.key for part in items]
        if around.is_call or any(not isinstance(axis, int) or not 0 <= axis < len(dims) for axis in axes):
            raise ImpossibleError("its keys are no axes")
        numbers = [axis for axis in axes if isinstance(axis, int)]
        if numbers == sorted(set(numbers)):
            stretches = self._padded(items, numbers, len(dims), around.instead(opening, closing))
            self.draft.edit(value.node, stretches, "TensorSpec")
            for part, axis in zip(items, numbers, strict=True):
                self._slot(part, dims[axis])
            return
        if len(set(numbers)) != len(numbers):
            raise ImpossibleError("two keys are one axis")
        if sum(map(self._evaluates, items)) > 1:
            raise ImpossibleError("bounds that are not known would be evaluated in another order")
        texts = ["None"] * len(dims)
        remarks = [""] * len(dims)
        for part, axis in zip(items, numbers, strict=True):
            self._slot(part, dims[axis])
            texts[axis] = self.draft.text(part.expression)
            remarks[axis] = remark(self.draft.file.plan, part.expression)
        text = f"{opening}{in_lines(self.draft.file.plan, items[0], texts, remarks)}{closing}"
        self.draft.edit(value.node, [(*around.span, text)])

    def _evaluates(self, part: Part) -> bool:
        """Returns whether a part makes a dim with bounds that only the program knows."""
        match part.value:
            case DimValue(open=open_, root=made) | HintValue(open=open_, node=made) if open_:
                start, end = self.draft.file.plan.tree.extent(part.expression)
                at = self.draft.file.plan.tree.extent(made)
                return start <= at[0] and at[1] <= end
            case _:
                return False

    def _padded(self, items: list[Part], axes: list[int], rank: int, stretches: list[Stretch]) -> list[Stretch]:
        """Returns the edits of a dict of axes in order: keys go, and None stands for an axis that is not there."""
        plan = self.draft.file.plan
        text = plan.tree.source.text
        expected = 0
        for part, axis in zip(items, axes, strict=True):
            start, end = plan.outer(part.at or part.expression)[0], plan.outer(part.expression)[0]
            if "#" in text[start:end]:
                raise ImpossibleError("a comment stands behind a key")
            stretches.append((start, end, "None, " * (axis - expected)))
            expected = axis + 1
        if expected < rank:
            at = plan.outer(items[-1].expression)[1]
            stretches.append((at, at, ", None" * (rank - expected)))
        return stretches

    def _slot(self, part: Part, dim: Dim) -> None:
        """Turns one dim, or an int."""
        self.draft.covered.add(part.expression)
        match part.value:
            case Constant(value=None):
                keeps = isinstance(dim, Static)
            case Constant():
                keeps = not isinstance(dim, Static)
            case DimValue() as value:
                keeps = self.dims.keeps(value)
            case HintValue() as value if value.open and isinstance(dim, Var) and self._target(part) is value.node:
                self.dims.hinted(value, dim.name)
                return
            case _:
                keeps = False
        if not keeps:
            self._swap(part, self.dims.at(part.expression).dim(dim))
        elif (target := self._target(part)) is not getattr(part.value, "root", None):
            self.draft.edit(target, [])  # another branch may not write something else here

    def _open(self, value: Value) -> tuple[list[Part], Brackets]:
        """Returns the parts and the brackets of a display.

        Raises:
            ImpossibleError: It is none, or something changes it later, or it must stay.
        """
        if not isinstance(value, Dict | Sequence) or not value.is_whole or value.steps:
            raise ImpossibleError("it is built by steps")
        if value.node in self.draft.file.frozen:
            raise ImpossibleError("it is used elsewhere", value.node)
        return parts(value), brackets(self.draft.file.plan, value.node)


def _collected(params: tuple[Param, ...]) -> Mapping[str | int, Type]:
    """Returns the types of the keyword arguments that `**` collects."""
    for param in params:
        if param.kind is ParamKind.VAR_KEYWORD and isinstance(param.type, MappingType):
            return dict(param.type.entries)
    return {}


__all__ = ["Edits"]
