"""The function that torch compiles: the target's own signature, every leaf touched, then the target.

torch binds a spec to the parameters of the frame it compiles, so builtin modules, partials, hooks and
decorated functions obey one only behind a plain function. It binds lazily, too: a size of a parameter
that the program never reads is not checked, and an assumption about it is an internal error; reading
each leaf once cures that.

Before::

    functional.linear                          # a builtin without a signature

After::

    def linear(x, weight):
        x.size(0); weight.size(0)
        return _target(x, weight)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...ir import Static
from ...ir.expanded import Leaf, Lowered
from ...runtime.code import Code
from ...runtime.parameters import Parameter, header, passed
from .told import told


def touches(leaves: Sequence[Leaf], code: Code, spelled: Mapping[str, str]) -> Iterator[str]:
    """Yields a statement for each leaf that makes torch bind its sizes.

    Args:
        leaves: Of the lowered signature.
        code: The function in which the statements will stand.
        spelled: Parameter → the name of the local variable that holds it.
    """
    for leaf in leaves:
        if all(isinstance(dim, Static) for dim in leaf.dims):
            continue
        value = spelled[leaf.path.root]
        for step in leaf.path.steps:
            value = code.step(value, step)
        # a comparison, because an arithmetic expression without effect is not traced
        yield f"{value} >= 0" if leaf.scalar else f"{value}.size(0)"


def entry_function(
    target: Callable[..., Any],
    parameters: Sequence[Parameter],
    lowered: Lowered,
    *,
    name: str,
    present: Mapping[str, bool] | None = None,
    offsets: Mapping[str, int] | None = None,
    note: Callable[[], None] | None = None,
    backed: bool = False,
) -> FunctionType:
    """Returns the function to compile.

    Args:
        target: What it calls.
        parameters: The target's; defaults are passed by reference, since a repr may not read back.
        lowered: Whose leaves are touched.
        name: What torch's logs print.
        present: Parameters that map to false are not passed to the target.
        offsets: Scalar parameter → what the caller added to it, to be subtracted again.
        note: Is called while torch traces, once every leaf is bound; leaves nothing in the graph.
        backed: Whether torch is told by statements what is promised of sizes, since it gets no ShapesSpec.
    """
    spelled = {param.name: param.spelled for param in parameters}
    code = Code([*spelled.values(), name])
    lines = list(touches(lowered.leaves, code, spelled))
    if backed:
        lines += told(lowered, code, spelled)
    if note is not None:
        lines.append(f"{code.use(note, 'note')}()")
    for param, offset in (offsets or {}).items():
        lines.append(f"{spelled[param]} = {spelled[param]} - {offset}")
    lines.append(f"return {code.use(target, 'target')}({passed(parameters, present)})")
    return code.function(f"{code.prefix}f({header(parameters, code)})", lines, name)
