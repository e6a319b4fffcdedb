"""The uses of legacy specs in a file: what the interpreter calls is recognized, and its spec read.

Before::

    from torch.export import export as to_program
    to_program(Net(), (torch.randn(4, 3),), dynamic_shapes={"x": {0: rows}})

After::

    Site("torch.export.export", …, spec=LegacySpec("Net.forward", …), conversions=[Conversion(…)])

A name decides nothing: a function is torch's if its qualified name is, whatever it is called here, and another
library's ``export`` or ``Dim`` is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .....diagnostics import Report, Severity
from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    DimValue,
    Fork,
    HintValue,
    Imported,
    Made,
    Member,
    Sequence,
    Value,
)
from .additional import ADDITIONAL, added, is_additional
from .apis import api_of, bind
from .constrained import DYNAMIC_DIM
from .dumped import LOADERS, is_load, load_use
from .engines import engine_use, is_engine, is_input
from .exports import export_use
from .marked import Marks, mark_kind
from .plain import from_json
from .to_model import is_new, is_new_name
from .torch_modules import signature_in_torch
from .uses import Use, grouped, site_of

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from ..observe import Argument, Frame
    from ..sites import Site


_PLAIN: Final = ("builtins.", "functools.", "itertools.", "json.", "copy.", "numpy.")  # what uses no spec and no mark


def find_sites(tree: Tree, report: Report, *, is_rewritten: bool = True) -> list[Site]:
    """Returns the uses of legacy specs in a file, in its order.

    Args:
        tree: The file.
        report: Receives why a use is kept, and what its conversion reports.
        is_rewritten: Whether the file itself is converted, so that a call which stays as it is is told of.
    """
    from ..interpret import interpret

    finder = _Finder(tree)
    interpret(tree, finder)
    uses = [*finder.uses, *finder.marks.uses(), *finder.loads()]
    groups = sorted(grouped(uses), key=lambda group: tree.extent(group[0].call))
    sites = [
        site_of(group, tree, report, is_rewritten=is_rewritten, is_bare=id(group[0].call) in finder.bare)
        for group in groups
    ]
    if is_rewritten:
        finder.tell_others(report)
    return sites


class _Finder:
    """Listens to a run."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.uses: list[Use] = []
        self.bare: set[int] = set()  # calls that are reached without a spec
        self.marks = Marks(tree)
        self._loads: list[tuple[Made, Frame]] = []
        self._others: dict[int, tuple[cst.Call, str]] = {}

    def call(self, node: cst.Call, callee: Value, args: list[Argument], frame: Frame) -> Value | None:
        """Hears of a call; see `Observer`."""
        if isinstance(callee, Fork):
            return self._fork(node, callee, args, frame)
        match callee:
            case Imported(name=name):
                return self._imported(node, name, args, frame)
            case Made(name="torch.compile", args=[*given]) if not any(
                name is None for name, _ in given
            ):  # `torch.compile(fullgraph=True)(f)`
                return self.marks.applied(callee, args, frame)
            case Made(name="torch.compile"):
                self.marks.called(callee, node, args, frame)
            case Member(owner=Collection() as owner, name="dynamic_shapes"):
                return owner
            case Member(owner=Made() as owner, name="add") if is_additional(owner):
                added(owner, node, bind(args, ("args", "kwargs")), frame)
            case Member(owner=Made() as owner, name="dynamic_shapes") if is_additional(owner):
                return owner
            case Callable():
                compiled = self.marks.decorator_of(callee)
                if compiled is not None:
                    self.marks.called(compiled, node, args, frame)
            case _:
                self._other(node, callee, args)
        return None

    def decorated(self, node: cst.FunctionDef | cst.ClassDef, decorators: list[Value], made: Callable) -> None:
        """Hears of a decorated definition; see `Observer`."""
        for decorator, value in zip(node.decorators, decorators, strict=False):
            is_compile = isinstance(value, (Made, Imported)) and value.name == "torch.compile"
            if is_compile and made.kind == "function":
                self.marks.decorated(made, decorator.decorator, value)

    def _imported(self, node: cst.Call, name: str, args: list[Argument], frame: Frame) -> Value | None:
        api = api_of(name)
        if api is not None:
            use = export_use(self.tree, node, name, api, args, frame)
            if use is not None:
                self.uses.append(use)
                return None
            self.bare.add(id(node))
            if not api.only_shapes or name.startswith("torch.export."):
                self.marks.escaped(args, f"`{name}`, which obeys the mark,")
            return None
        if mark_kind(name) is not None:
            self.marks.mark(node, name, args, frame)
            return None
        if is_engine(name):
            use = engine_use(self.tree, node, name, args, frame)
            if use is not None:
                self.uses.append(use)
            return None
        if name in LOADERS:
            bound = bind(args, ("spec", "from_dict"))
            loaded = Made(name, [(None, bound.values["spec"])] if "spec" in bound.values else None, node)
            self._loads.append((loaded, frame))
            return loaded
        if (
            name == "json.loads"
            and args
            and isinstance(args[0].value, Constant)
            and isinstance(args[0].value.value, str)
        ):
            return from_json(args[0].value.value, node)
        if name.startswith("torch._dynamo.") and name.rpartition(".")[2] in ("optimize", "optimize_assert"):
            return self.marks.optimized(node, frame)
        if name == "torch.compile":
            return self.marks.compiled(node, args, frame)
        self._other(node, Imported(name, node), args)
        return _made(name, node, args)

    def loads(self) -> list[Use]:
        """Returns the dumps that are loaded, and that no export takes."""
        taken = {id(use.value.node) for use in self.uses if use.value is not None and is_load(use.value)}
        return [load_use(made, frame) for made, frame in self._loads if id(made.node) not in taken]

    def _fork(self, node: cst.Call, callee: Fork, args: list[Argument], frame: Frame) -> Value | None:
        """Hears of a call of one of several functions; if all of them take a spec, they take the same one."""
        apis = [(each.name, api_of(each.name)) for each in callee.options if isinstance(each, Imported)]
        found = [(name, api) for name, api in apis if api is not None]
        if not found or len(found) < len(callee.options):
            self._other(node, callee, args)
            return None
        name, api = next(((name, api) for name, api in found if api.only_shapes), found[0])
        use = export_use(self.tree, node, name, api, args, frame)
        if use is not None:
            self.uses.append(use)
        return None

    def _other(self, node: cst.Call, callee: Value, args: list[Argument]) -> None:
        """Notes a call of something else with torch's dims for ``dynamic_shapes=``, or with marked tensors."""
        if isinstance(callee, Imported) and callee.name.startswith(_PLAIN):
            return
        if not (isinstance(callee, Imported) and callee.name.startswith("torch.")):
            self.marks.escaped(args, "something that may be compiled")
        value = bind(args, ()).values.get("dynamic_shapes")
        if value is not None and _has_dims(value) and not is_new(value):
            name = callee.name if isinstance(callee, (Imported, Made, Member)) else self.tree.code(node.func)
            self._others[id(node)] = (node, name)

    def tell_others(self, report: Report) -> None:
        """Reports legacy specs that go to functions of which nothing is known."""
        for node, name in self._others.values():
            message = f"`{name}` is given a legacy spec; what it does with it is not known, so it stays"
            report.emit(Severity.NOTE, "legacy-note", message, at=self.tree.span(node.func))


def _made(name: str, node: cst.Call, args: list[Argument]) -> Made | None:
    """Returns the object that a call of a library makes, where a recognizer reads it; None for another call."""
    is_read = is_new_name(name) or is_input(name) or name in DYNAMIC_DIM or name in ADDITIONAL
    if not is_read and signature_in_torch(name) is None:
        return None
    bound = bind(args, ())
    if bound.unclear is not None:
        return Made(name, None, node)
    given: list[tuple[str | None, Value]] = [(None, value) for value in bound.rest]
    return Made(name, [*given, *bound.values.items()], node)


def _has_dims(value: Value) -> bool:
    match value:
        case DimValue() | HintValue():
            return True
        case Dict(entries=entries):
            return any(_has_dims(item) for _, item in entries.values())
        case Sequence(items=items) | Fork(options=items):
            return any(map(_has_dims, items))
        case _:
            return False


__all__ = ["find_sites"]
