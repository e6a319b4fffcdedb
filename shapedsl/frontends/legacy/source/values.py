"""What an expression of a source file is known to be, and which nodes made it.

The interpreter (`interpret`) runs a module over these values, in order, so that what a name means at a call is what
reaches it there. Every value knows the expressions it was made by: these are what `rewrite` edits. What is not known
is `Unknown`, with the reason and the place: it is never guessed at.

A display that is built step by step is one object, which the steps mutate, as in Python: ``spec["a"][0] = 2`` changes
what every name of it sees. Branches are joined: values that differ become a `Fork`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..model import Hint

if TYPE_CHECKING:
    import libcst as cst

    from ....ir import Param
    from .observe import Argument


@dataclass(eq=False, slots=True)
class Constant:
    """An int, a bool, a string, a float, None, a bytes or ``...``."""

    value: object
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class DimValue:
    """What `Dim` or `dims` made, or arithmetic on it: ``factor * root + offset``.

    Attributes:
        name, low, high: Of the root, as `model.Named` has them.
        factor, offset: 1 and 0 for the root itself.
        root: The call that made the root.
        node: The expression that made this value; ``root`` itself for a root.
        open: Which of ``min`` and ``max`` are stated, and not known; ``low`` or ``high`` is None then.
    """

    name: str
    low: int | None
    high: int | None
    root: cst.CSTNode
    node: cst.CSTNode
    factor: int = 1
    offset: int = 0
    open: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class HintValue:
    """``Dim.AUTO``, ``Dim.DYNAMIC(max=8)``, ``Dim.STATIC``; ``is_factory`` until it is called with bounds.

    Attributes:
        open: As `DimValue.open`.
    """

    kind: Hint
    node: cst.CSTNode
    low: int | None = None
    high: int | None = None
    is_factory: bool = True
    open: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Dict:
    """A dict that was built here.

    Attributes:
        entries: Key (as Python compares them) → the key's value and the value.
        node: The display or call that made it.
        steps: The statements and calls that changed it afterwards, in order; empty for a plain display.
        is_whole: Whether ``node`` shows each entry literally, in order: no merge, comprehension or loop.
    """

    entries: dict[object, tuple[Value, Value]]
    node: cst.CSTNode
    steps: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    is_whole: bool = True


@dataclass(eq=False, slots=True)
class Sequence:
    """A list, a tuple or a namedtuple that was built here; attributes as `Dict`.

    Attributes:
        fields: The names of a namedtuple's fields.
        class_name: Of a namedtuple.
    """

    kind: Literal["list", "tuple", "namedtuple"]
    items: list[Value]
    node: cst.CSTNode
    steps: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    is_whole: bool = True
    fields: tuple[str, ...] = ()
    class_name: str = ""
    again: object = field(default=None, repr=False)  # of an iterator, what it would give now: the interpreter's own


@dataclass(eq=False, slots=True)
class Collection:
    """A `ShapesCollection`: for each assignment the tensor, the spec and the statement."""

    entries: list[tuple[Value, Value, cst.CSTNode]]
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Tensor:
    """A tensor that source shows: ``torch.randn(4, 3)``, ``torch.ones(n, 2)``, ``x.long()``.

    Attributes:
        sizes: None for one that is not known; None as a whole where even the rank is not.
        node: The expression that made it. Two uses of one name hold the same object.
    """

    sizes: tuple[int | None, ...] | None
    node: cst.CSTNode


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a callable that the file defines.

    Attributes:
        name: Dotted, as a spec is named: ``Net.forward``, ``f``.
        params: Without the receiver; types ``_``.
        receiver: ``self`` for a method, else None.
    """

    name: str
    params: tuple[Param, ...]
    receiver: str | None = None


@dataclass(eq=False, slots=True)
class Callable:
    """A function, a class, an object of a class with ``forward``, a bound method.

    Attributes:
        kind: ``class`` is what `class` defines; ``object`` what calling it makes.
        signature: Of calling it: for a class, of its objects (``forward`` of a module); None where source does not
            tell, as where ``forward`` is inherited from elsewhere.
        name: Its qualified name in the file.
        node: The definition.
    """

    kind: Literal["function", "class", "object"]
    signature: Signature | None
    name: str
    node: cst.CSTNode
    inner: Value | None = None  # what `torch.compile` or a method binds
    around: object = field(default=None, repr=False)  # where it was defined: the interpreter's own
    attributes: Value | None = field(default=None, repr=False)  # of an object: the interpreter's own


@dataclass(eq=False, slots=True)
class Partial:
    """``functools.partial(export, strict=False)``. A call of it is reported as one of ``inner``, with all arguments.

    Attributes:
        inner: What it calls.
        args: What it binds.
        node: The call of ``partial``.
    """

    inner: Value
    args: list[Argument]
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Imported:
    """A name of another module, by its qualified name: ``torch.export.Dim``, ``torch._dynamo.mark_dynamic``."""

    name: str
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Made:
    """What calling a name of another module made, where that is all that is known: an object of a library.

    Attributes:
        name: What was called, by its qualified name: ``torch_tensorrt.Input``, ``torch.nn.Linear``.
        args: Name (None for a positional one) and value of each argument, in order, stars already unpacked;
            None where a starred one is not known.
        node: The call.
    """

    name: str
    args: list[tuple[str | None, Value]] | None
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Member:
    """An attribute of a `Made` or of a member of one; ``[]`` for a subscript: ``sd.loads(…)["f"].to_torch``."""

    owner: Value
    name: str
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Relation:
    """A comparison with a `Made` on one side: ``dynamic_dim(x, 0) <= 8``; ``operator`` as it is written."""

    left: Value
    operator: str
    right: Value
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Fork:
    """One of several: branches of an ``if``, a conditional expression, several definitions that reach a use."""

    options: list[Value]
    node: cst.CSTNode


@dataclass(eq=False, slots=True)
class Unknown:
    """What source does not tell.

    Attributes:
        reason: A clause: "`b` is a parameter", "`make_dims` is defined elsewhere".
        node: Where that shows.
        code: Of the diagnostic, if a spec needs it.
        cure: What to do where the program itself is wrong; empty where it is only reading that does not tell.
    """

    reason: str
    node: cst.CSTNode
    code: str = "legacy-flow"
    cure: str = ""


Value: TypeAlias = (
    Constant
    | DimValue
    | HintValue
    | Dict
    | Sequence
    | Collection
    | Tensor
    | Callable
    | Partial
    | Imported
    | Made
    | Member
    | Relation
    | Fork
    | Unknown
)
