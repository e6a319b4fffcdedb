"""``_load_dynamic_shapes`` of a dump that the file shows, alone or on the way to an export.

Before::

    shapes = _load_dynamic_shapes(json.loads('{"dynamic_shapes": [["nb", 3]], "dims": {"nb": {…}}}'), from_dict=True)

After: the tree of the dump. Alone it is a spec of ``arg0, arg1, …``; at an export the parameters are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .....diagnostics import Report
from ...dump import read_dump
from ..values import Made
from .plain import plain
from .refused import RefusedError, refuse
from .uses import Use

if TYPE_CHECKING:
    import libcst as cst

    from ...model import LegacySpec
    from ..observe import Frame

LOADERS: Final = frozenset(
    ("torch._export.serde.dynamic_shapes._load_dynamic_shapes", "torch._export.serde._load_dynamic_shapes")
)


def is_load(value: object) -> bool:
    """Returns whether a value is what a dump was loaded to."""
    return isinstance(value, Made) and value.name in LOADERS


def load_use(made: Made, frame: Frame) -> Use:
    """Returns the use that loading a dump is, where no export takes it."""
    call: cst.Call = made.node  # type: ignore[assignment]
    use = Use(made.name, call, frame, None if not call.args else call.args[0], made)
    use.only_shapes = "loads a spec without the names of its parameters"
    use.only_help = "write the spec at the export, by parameter"
    use.only_code = "legacy-parameter"
    try:
        use.specs.append(dump_spec(made))
        use.worlds.append(made)
    except RefusedError as error:
        use.reasons.append(error.reason)
    return use


def dump_spec(made: Made) -> LegacySpec:
    """Returns what a dump says, of ``arg0, arg1, …``.

    Raises:
        RefusedError: The file does not show it, or it is none.
    """
    if not made.args:
        raise refuse("the dump is not known", made.node)
    report = Report()
    spec = read_dump(plain(made.args[0][1]), report)
    if spec is None:
        error = report.errors[0]
        raise refuse(error.message, made.node, error.code, "; ".join(error.notes) or "no dump")
    return spec


__all__ = ["LOADERS", "dump_spec", "is_load", "load_use"]
