"""The artifacts of one callable: made when first needed, one for each structure and each tuple of static sizes.

After (the end of the generated function; names shortened)::

    found = table.get((HD,))                     # only where a `const HD = _` is in the spec
    if found is None: found = build(HD)
    run, translate = found
    try: return run(x, w)
    except Exception as error: translate(error); raise

Without static sizes ``run`` is a global of the function, which the first call replaces.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, TypeAlias

import torch

from ...ir import Size, VariableKind
from ...ir.expanded import Expanded, Lowered
from ...runtime.code import Code
from ...runtime.guard import Guard
from ...runtime.parameters import OMITTED, REQUIRED, Parameter, header, passed
from ..enforced.held import Held
from ..errors import trace_failure
from ..shapes_spec import write
from ..tracing import traced_test
from .auto import Auto
from .backed import marking, specialized
from .demands import demand_failure, note_symbols
from .lowering import AUTO, BACKED, UNBACKED, Choice, Plan, remarks_of
from .refusals import layout_refusal, refusal
from .shift import shift
from .source import entry_function

# An expanded signature, the values of `const X = _`, and whether an int may be negative.
Lower: TypeAlias = Callable[[Expanded, Mapping[str, int], bool], Lowered]

# torch's compiled function, and what raises its errors in the user's terms.
Artifact: TypeAlias = tuple[Callable[..., Any], Callable[[Exception], None]]

# torch's limit of 8 counts dtypes, strides, requires_grad and values of `_` dims, and exceeding it is an error.
RECOMPILE_LIMIT: Final = 64


@dataclass(frozen=True)
class Compiled:
    """What torch.compile made.

    Attributes:
        run: Takes what the target takes, as `passed` writes it.
        translate: Returns what to raise for an error of ``run``, if it means something for the spec.
        graphs: Returns how many graphs torch holds for it.
        held: Returns the function that torch compiled, with what reads its guards; None before it is chosen.
    """

    run: Callable[..., Any]
    translate: Callable[[Exception], Exception | None]
    graphs: Callable[[], int]
    held: Callable[[], Held | None]


class Artifacts:
    """Makes the artifacts of one callable; writes the part of the generated function that calls them."""

    def __init__(
        self,
        target: Callable[..., Any],
        parameters: Sequence[Parameter],
        lower: Lower,
        options: Mapping[str, Any],
        name: str,
        plan: Plan | None = None,
    ) -> None:
        self.target = target
        self.parameters = parameters
        self.lower = lower
        self.plan = plan or Plan.of(UNBACKED, None)
        self.options = options
        self.name = name
        self.made: list[Compiled] = []
        self._lock = threading.RLock()

    def prologue(self, code: Code) -> list[str]:
        """Returns the lines that leave a call to whoever is compiling around it."""
        return traced_call(self.target, self.parameters, code)

    def body(self, code: Code, checked: Guard, expanded: Expanded) -> list[str]:
        """Returns the lines that find the artifact and run it."""
        present = presence(expanded, self.parameters)
        arguments = passed(self.parameters, present)
        consts = {v.name for v in expanded.signature.variables if v.kind is VariableKind.CONST}
        statics = [name for name in checked.sizes if name in consts]
        run, translate, error = code.prefix + "run", code.prefix + "translate", code.local()
        call = [
            f"try: return {run}({arguments})",
            f"except {code.use(Exception, 'Exception')} as {error}:",
            f"    {translate}({error})",
            "    raise",
        ]
        if not statics:

            def install(artifact: Artifact) -> None:
                code.scope[run], code.scope[translate] = artifact

            install(self._starter(expanded, present, {}, install))
            return call
        table: dict[tuple[int, ...], Artifact] = {}

        def build(*key: int) -> Artifact:
            def install(artifact: Artifact) -> None:
                table[key] = artifact

            with self._lock:
                if key not in table:
                    install(self._starter(expanded, present, dict(zip(statics, key, strict=True)), install))
                return table[key]

        found, values = code.local(), "".join(f"{checked.sizes[name]}, " for name in statics)
        return [
            f"{found} = {code.use(table.get, 'get')}(({values}))",
            f"if {found} is None: {found} = {code.use(build, 'build')}({values})",
            f"{run}, {translate} = {found}",
            *call,
        ]

    def _starter(
        self,
        expanded: Expanded,
        present: Mapping[str, bool],
        statics: Mapping[str, int],
        install: Callable[[Artifact], None],
    ) -> Artifact:
        """Returns what stands in for an artifact until the first call: that makes it, and installs it.

        Other threads wait for the first call to end: torch would compile once in each.
        """
        made: list[Artifact] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                if not made:
                    made.append(self._artifact(expanded, present, statics))
                    try:
                        return made[0][0](*args, **kwargs)
                    finally:
                        install(made[0])
            return made[0][0](*args, **kwargs)

        def translate(error: Exception) -> None:
            if made:
                made[0][1](error)

        return run, translate

    def _artifact(self, expanded: Expanded, present: Mapping[str, bool], statics: Mapping[str, int]) -> Artifact:
        lowered = self.lower(expanded, statics, True)
        make = functools.partial(compiled, self.target, self.parameters, lowered, self.options)
        made = planned(self.plan, make, self.target, lowered, name=self.name, present=present)
        self.made.append(made)

        def translate(error: Exception) -> None:
            """Raises what ``error`` means for the spec, if it means anything; else returns."""
            translated = made.translate(error)
            if translated is not None:
                raise translated from error

        return made.run, translate


def traced_call(target: Callable[..., Any], parameters: Sequence[Parameter], code: Code) -> list[str]:
    """Returns the lines that call ``target`` itself in someone else's graph."""
    traced = traced_test(code)
    called = code.use(target, "target")
    secret = [param for param in parameters if param.default is OMITTED]
    if not secret:
        return [f"if {traced}: return {called}({passed(parameters)})"]
    omitted = code.use(OMITTED, "omitted")
    kwargs = code.local()
    lines = [
        f"if {traced}:",
        f"    if {' and '.join(f'{param.spelled} is not {omitted}' for param in secret)}:",
        f"        return {called}({passed(parameters)})",
        f"    {kwargs} = {{}}",
    ]
    lines += [f"    if {p.spelled} is not {omitted}: {kwargs}[{p.name!r}] = {p.spelled}" for p in secret]
    others = passed(parameters, {param.name: False for param in secret})
    lines.append(f"    return {called}({others}{', ' if others else ''}**{kwargs})")
    return lines


def presence(expanded: Expanded, parameters: Sequence[Parameter]) -> dict[str, bool]:
    """Returns for each parameter with a default whether this structure passes it."""
    spoken = {param.name for param in expanded.signature.params}
    return {p.name: p.name in spoken or p.default is not OMITTED for p in parameters if p.default is not REQUIRED}


def compiled(
    target: Callable[..., Any],
    parameters: Sequence[Parameter],
    lowered: Lowered,
    options: Mapping[str, Any],
    *,
    name: str,
    present: Mapping[str, bool],
    backed: bool = False,
) -> Compiled:
    """Returns ``target`` compiled by torch at its first call, behind an entry function of its own.

    Args:
        target: What to compile.
        parameters: Its parameters.
        lowered: What torch is told; ints may be negative.
        options: torch.compile's.
        name: What torch's logs print.
        present: Parameters that map to false are not passed.
        backed: Whether torch is told of the sizes by `mark_dynamic`, instead of by a ShapesSpec.

    Raises:
        ShapeError: ``negative-int``; or ``contradiction``, where torch folds an assumption to false.
    """
    lowered, offsets = (lowered, {}) if backed else shift(lowered)
    symbols: dict[str, Size] = {}
    note = None if backed else note_symbols(symbols, lowered)
    entry = entry_function(
        target, parameters, lowered, name=name, present=present, offsets=offsets, note=note, backed=backed
    )
    chosen: dict[str, Any] = {"recompile_limit": RECOMPILE_LIMIT, **options}
    # torch's isolation is a number in the process (2.14.1): threads that compile at once would miss each other's
    # graphs and make new ones. The entry function isolates as well: its code object is no one else's.
    chosen.update(fullgraph=True, isolate_recompiles=False)
    if chosen.get("options") is not None:
        chosen["options"] = dict(chosen["options"])  # torch pops entries out of it
    made: Any = torch.compile(entry, dynamic_shapes=None if backed else write(lowered), **chosen)
    passed_on = [param.name for param in parameters if present.get(param.name, True)]
    run = made
    if offsets:
        run = _shifted(made, parameters, present, offsets)
    elif backed:
        run = marking(made, parameters, lowered, passed(parameters, present))

    def translate(error: Exception) -> Exception | None:
        limit = chosen["recompile_limit"] or torch._dynamo.config.recompile_limit
        return (
            refusal(error, lowered, parameters, passed_on, limit)
            or (specialized(error) if backed else layout_refusal(error, lowered))
            or trace_failure(error, lowered)
            or demand_failure(error, lowered, symbols)
        )

    spelled = {param.name: param.spelled for param in parameters}
    held = Held(entry, spelled, offsets=offsets, own=lowered.expanded)
    return Compiled(run, translate, functools.partial(graphs_of, entry), lambda: held)


def planned(
    plan: Plan,
    make: Callable[..., Compiled],
    target: Callable[..., Any],
    lowered: Lowered,
    *,
    name: str,
    present: Mapping[str, bool],
) -> Compiled:
    """Returns an artifact that is lowered as ``plan`` says; under ``auto`` its first call decides.

    Args:
        plan: How, and who is told.
        make: `compiled`, but for its keywords.
        target: The original.
        lowered: What torch is told.
        name: What messages call it.
        present: Parameters that map to false are not passed.

    Raises:
        ShapeError: It cannot be lowered.
    """

    def kind(backed: bool) -> Compiled:
        return make(name=name, present=present, backed=backed)

    if plan.lowering == AUTO and plan.judge is not None:
        auto = Auto(target, name, lowered, kind, plan.judge, plan.record)
        return Compiled(auto.run, auto.translate, auto.graphs, auto.held)
    made = kind(plan.lowering == BACKED)
    remarks = tuple(remarks_of(lowered)) if plan.lowering == BACKED else ()
    plan.record.choices.append(Choice(plan.lowering, "", remarks))
    return made


def graphs_of(entry: FunctionType) -> int:
    """Returns how many graphs torch holds for ``entry``, which is compiled by one caller only."""
    from torch._dynamo.eval_frame import _get_total_cache_entry_count

    return _get_total_cache_entry_count(entry.__code__)


def _shifted(
    run: Callable[..., Any], parameters: Sequence[Parameter], present: Mapping[str, bool], offsets: Mapping[str, int]
) -> FunctionType:
    """Returns a function that adds ``offsets`` before it calls ``run``."""
    spelled = {param.name: param.spelled for param in parameters}
    code = Code(spelled.values())
    lines = [f"{spelled[name]} = {spelled[name]} + {offset}" for name, offset in offsets.items()]
    lines.append(f"return {code.use(run, 'run')}({passed(parameters, present)})")
    return code.function(f"{code.prefix}f({header(parameters, code)})", lines, "shifted")
