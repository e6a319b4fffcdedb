"""The compiler on one page: text → IR → normal form → one structure → lowerable form → ShapesSpec.

Each function is one stage; it takes what the stage before returned and a `Report`, and adds its
findings there. Nothing here decides anything: the stages do.

It is longer than other modules because it is the one place where the order of the stages can be read; most of it
is what each of them takes and returns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .diagnostics import Report, Severity, ShapeError, Source
from .diagnostics.files import read_bytes

if TYPE_CHECKING:  # each stage is loaded by the one that asks for it: formatting needs no IR, reading no sympy
    from .frontends.legacy.model import LegacySpec as LegacySpec
    from .frontends.legacy.source.sites import FileResult as FileResult
    from .frontends.legacy.source.sites import SiteResult as SiteResult
    from .frontends.legacy.verdict import Conversion as Conversion
    from .frontends.stubs.attributes import LiteralValues
    from .ir import Alternative, Mode, Predicate, Size
    from .ir import Module as Module
    from .ir import Signature as Signature
    from .ir.cure import Cure
    from .ir.expanded import Expanded
    from .ir.expanded import Lowered as Lowered
    from .ir.legacy import DimsForm as DimsForm
    from .normalize import Normal
    from .normalize.compare import Compared
    from .normalize.compare.files import FilesCompared
    from .targets.compare import Program


def read(
    source: Source,
    report: Report,
    *,
    consts: Mapping[str, int] | None = None,
    base: Path | None = None,
    load: Callable[[Path], Source] | None = None,
) -> Module:
    """Text → IR: every def of ``source`` that could be read.

    Args:
        source: The text.
        report: Receives what is wrong with it.
        consts: Overrides of ``const`` statements.
        base: The folder that imports are relative to.
        load: Reads an imported file, where it does not lie on disk.
    """
    from .frontends.text import read as read_text  # lark is loaded when the first text is read

    return read_text(source, report, consts=consts, base=base, load=load)


def read_file(path: Path, report: Report) -> Source | None:
    """A file's text; ``report`` receives ``unreadable-file`` or ``invalid-utf8``."""
    raw = _read_bytes(path, report)
    return None if raw is None else decode(str(path), raw, report)


def _read_bytes(path: Path, report: Report) -> bytes | None:
    try:
        return read_bytes(path)
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.error("unreadable-file", f"cannot read `{path}`: {reason}")
        return None


def decode(name: str, raw: bytes, report: Report) -> Source | None:
    """Bytes → a text called ``name``, without a byte-order mark; ``report`` receives ``invalid-utf8``."""
    try:
        return Source(name, raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8-sig", errors="ignore")
        report.error(
            "invalid-utf8",
            f"`{name}` is not UTF-8 text: byte {raw[error.start]:#04x} at offset {error.start}",
            at=Source(name, good).span(len(good), len(good)),
            help="save the file as UTF-8",
        )
        return None


def format_text(source: Source, report: Report) -> str | None:
    """Text → text in canonical layout; None, with the reasons in ``report``, if it cannot be read."""
    from .frontends.text.format import format_text as format_source

    return format_source(source, report)


def with_clauses(
    text: str,
    signature: Signature,
    clauses: Sequence[str],
    replaced: Sequence[Alternative],
    after: Sequence[Alternative],
    returns: str | None,
) -> str | None:
    """Text → text with other alternatives in one def; None if that cannot be edited as it stands."""
    from .frontends.text.insertion import with_clauses as insert

    return insert(text, signature, clauses, replaced, after, returns)


def with_assumptions(
    text: str,
    signature: Signature,
    lines: Sequence[str],
    blocks: Mapping[int, Sequence[str]] | None = None,
    fronts: Mapping[int, Sequence[str]] | None = None,
) -> str | None:
    """Text → text with lines added to one def, to its alternatives and in front of them; None where it cannot be edited."""
    from .frontends.text.assumptions import with_assumptions as insert

    return insert(text, signature, lines, blocks, fronts)


def check(
    source: Source, report: Report, *, consts: Mapping[str, int] | None = None, base: Path | None = None
) -> Module:
    """Text → IR, every signature also normalized, solved for its variables, and reviewed, for what `report` then holds."""
    module = read(source, report, consts=consts, base=base)
    readable = not report.errors
    sound: list[Signature] = []
    wrong: list[Signature] = []
    for signature in module:
        own = Report()  # one that several specs share is added once, and yet each of them is wrong
        normal_form(signature, own)
        for diagnostic in own:
            report.add(diagnostic)
        if any(d.severity is Severity.ERROR or d.code == "undecided" for d in own):
            wrong.append(signature)
            continue
        _solvable(signature, report)
        cover(signature, report)
        check_buckets(signature, report)
        claims(signature, report)
        sound.append(signature)
    if readable:  # else some defs may be missing
        review(source, sound, wrong, report)
    return module


def review(source: Source, sound: Sequence[Signature], wrong: Sequence[Signature], report: Report) -> None:
    """Signatures of one file → what they say in vain: ``redundant``.

    Args:
        source: The file's text.
        sound: Those that sizes satisfy.
        wrong: The others; what they share with the sound ones may be needed.
        report: Receives the findings.
    """
    from .normalize.redundant import find_redundant

    found = find_redundant(sound, wrong)
    if found:
        from .frontends.text.deletions import deletions
        from .frontends.text.named_consts import is_for_all_consts
        from .normalize.redundant_report import report_redundant

        found = [each for each in found if is_for_all_consts(each.constraints, each.core)]

        report_redundant(found, deletions(source, [each.constraints for each in found]), report)


def _solvable(signature: Signature, report: Report) -> None:
    """Reports ``not-invertible`` where it shows without an example."""
    from .runtime.solve import solved

    expanded = at_structure(
        signature, None, lambda _: False, Report()
    )  # a rank or a length may be open: that is no fault
    if expanded is not None:
        solved(expanded, report, solve)


def cover(signature: Signature, report: Report) -> None:
    """Reports what the alternatives of a satisfiable spec leave out, take twice, or never get."""
    if signature.alternatives:
        from .normalize.coverage import check_coverage

        check_coverage(signature, report)


def check_buckets(signature: Signature, report: Report) -> None:
    """Reports what cannot be padded: ``bucket-without-return``, ``unpadded-argument``, ``wrong-pad``."""
    if signature.alternatives:
        from .normalize.buckets import check_buckets as check

        check(signature, report)


def claims(
    signature: Signature,
    report: Report,
    *,
    handled: Collection[str] = (),
    checked: Collection[int] = (),
) -> None:
    """Reports buckets of which nothing says that padding changes no result: ``unchecked-padding``.

    Args:
        signature: Resolved.
        report: Receives warnings.
        handled: Outputs that the caller cuts back, as ``return[1]``.
        checked: Positions of the alternatives that passed a padding check.
    """
    if signature.alternatives:
        from .normalize.claims_of_padding import check_claims

        check_claims(signature, report, handled=handled, checked=checked)


def resolve(signature: Signature, report: Report) -> None:
    """Checks names, scopes, kinds, hints and divisors; cheap, and done when a file is loaded."""
    from .normalize import resolve as resolve_names

    resolve_names(signature, report)


def normal_form(signature: Signature, report: Report) -> Normal:
    """IR → normal form and variable table; ``report`` receives contradictions and wrong names."""
    from .normalize import normalize  # sympy is loaded when the first spec is normalized

    return normalize(signature, report)


def read_stub(source: Source, report: Report, module: str = "") -> Module:
    """A ``.pyi`` or annotated ``.py`` file → IR, by reading: nothing is imported. ``report`` receives its diagnostics.

    Names begin with ``module``, if that is not empty.
    """
    from .frontends.stubs import read_stub as read

    return read(source, report, module)


def read_python(path: Path, report: Report) -> Source | None:
    """A Python file's text, in the encoding that it names; ``report`` receives ``unreadable-file`` or ``invalid-utf8``."""
    from .frontends.stubs.reading import decode as decode_python

    raw = _read_bytes(path, report)
    return None if raw is None else decode_python(str(path), raw, report)


def decode_python(name: str, raw: bytes, report: Report) -> Source | None:
    """Bytes → the text of a Python file called ``name``; ``report`` receives ``invalid-utf8``."""
    from .frontends.stubs.reading import decode as decode_source

    return decode_source(name, raw, report)


def is_python(source: Source, report: Report) -> bool:
    """Whether a text is Python of any version; ``report`` receives ``syntax-error`` if not."""
    from .frontends.stubs.tree import is_python as is_parsed

    return is_parsed(source, report)


def encode_python(text: str, raw: bytes) -> bytes:
    """Text → bytes, as the Python file that ``raw`` holds was encoded; raises UnicodeEncodeError where that cannot be."""
    from .frontends.stubs.reading import encode

    return encode(text, raw)


def may_use_legacy_specs(text: str | bytes) -> bool:
    """Whether a Python file mentions what legacy specs are used by; else `convert_source` finds nothing."""
    from .frontends.legacy.source.triggers import may_have_sites

    return may_have_sites(text)


def stubs_below(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Files and folders → the stubs they are, each with what its names begin with; of one file that is nothing."""
    from .frontends.stubs.reading import module_name, modules_in

    if len(paths) == 1 and not paths[0].is_dir():
        return [(paths[0], "")]
    found: dict[Path, str] = {}
    for path in paths:
        for file, module in modules_in(path) if path.is_dir() else [(path, module_name(path))]:
            found.setdefault(file, module)
    return list(found.items())


def literal_attributes(source: Source) -> LiteralValues:
    """A stub → the values of attributes that its classes are about; nothing where it cannot be read."""
    from .frontends.stubs.attributes import literal_attributes as find
    from .frontends.stubs.tree import parse

    tree = parse(source, Report())
    return {} if tree is None else find(tree)


def read_legacy(
    shapes: Any,
    report: Report,
    *,
    fn: Callable[..., Any] | None = None,
    example: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
    input_names: Sequence[str] | None = None,
) -> LegacySpec | None:
    """The objects of a legacy spec → its model; see `api.from_dims`.

    Args:
        shapes: What was said.
        report: Receives why it cannot be read.
        fn: Whose parameters are meant.
        example: Positional and keyword arguments of a call.
        input_names: ONNX's names of the parameters.

    Raises:
        TypeError: ``shapes`` is no legacy spec, or the example does not fit ``fn``.
    """
    from .frontends.legacy.examples import Example
    from .frontends.legacy.objects import read
    from .targets.pytrees import Pytrees

    given = None if example is None else Example(*example)
    return read(shapes, report, torch=Pytrees(), fn=fn, example=given, input_names=input_names)


def convert_legacy(legacy: LegacySpec, report: Report) -> Conversion | None:
    """A legacy spec, whatever held it → IR, with what that changes."""
    from .frontends.legacy.convert import convert

    return convert(legacy, report)


def resolve_open(signature: Signature, report: Report) -> None:
    """As `resolve`, for a stub: its consts may wait for the object that gives them values, bound by no parameter."""
    from .normalize.instantiate import check_open

    check_open(signature, report)


def instantiate(signature: Signature, values: Mapping[str, int]) -> Signature | None:
    """IR → IR in which named static sizes have values; None if it is not about these values."""
    from .normalize.instantiate import instantiate as give_values

    return give_values(signature, values)


def write_stub(module: Module, report: Report) -> str:
    """IR → the text of a stub, without its last newline; ``report`` receives what Python cannot spell."""
    from .ir.write_pyi import write_pyi

    return write_pyi(module, report).rstrip("\n")


def convert_source(
    source: Source,
    report: Report,
    *,
    style: Literal["torch", "shapedsl"] = "torch",
    target: Literal["python", "shapes"] = "python",
    imported: Collection[str] = (),
) -> FileResult:
    """A Python file that holds legacy specs → the file with new ones, and its specs; nothing is imported or run.

    Args:
        source: The file.
        report: Receives why a use is kept, and what changes with it.
        style: What takes a spec's place: torch's own classes, or calls of this package.
        target: ``shapes`` leaves the file alone.
        imported: The names that other files import from it, ``*`` for every one: they keep their meaning.
    """
    from .frontends.legacy.source import convert_source as convert

    return convert(source, report, style=style, target=target, imported=imported)


def write_text(module: Module) -> str:
    """IR → canonical ``.shapes`` text, without its last newline."""
    from .ir.write import write_module

    return write_module(module).rstrip("\n")


def together(modules: Iterable[Module]) -> Module:
    """Several files' IR → one, with the specs of one name numbered anew."""
    from .ir import Module as Modules

    counts: dict[str, int] = {}
    found: list[Signature] = []
    for module in modules:
        before = dict(counts)
        for signature in module:
            index = before.get(signature.name, 0) + signature.index
            counts[signature.name] = max(counts.get(signature.name, 0), index)
            found.append(replace(signature, index=index))
    return Modules(tuple(found))


def sayable(module: Module, report: Report) -> Module:
    """IR → IR without the specs that no ``.shapes`` text says: Python's names are more than its."""
    from .ir import Module as Modules
    from .ir.write import write_signature

    def is_sayable(signature: Signature) -> bool:
        names = [*signature.name.split("."), *(param.name for param in signature.params)]
        if all(name.isascii() and name not in _WORDS for name in names):
            return True
        trial = Report()
        read(Source("", write_signature(signature)), trial)
        if trial.errors:
            report.warning(
                "inexpressible",
                f"`{signature.name}` has a name that no .shapes file can say; it is left out",
                at=signature.span,
            )
        return not trial.errors

    return Modules(tuple([signature for signature in module if is_sayable(signature)]))


_WORDS = frozenset(("and", "or", "not", "in", "None", "_", "inf", "true", "false"))


def read_question(source: Source, signature: Signature, report: Report) -> Predicate | None:
    """Text → a predicate in the names of ``signature``; ``report`` receives why it cannot be asked."""
    from .frontends.text.questions import read_predicate
    from .normalize.divisors import check_question

    predicate = read_predicate(source, signature, report)
    if predicate is not None:
        check_question(signature, predicate, report)
    return predicate


def read_size(source: Source, signature: Signature, report: Report) -> Size | None:
    """Text → a size in the names of ``signature``; ``report`` receives why it has no range."""
    from .frontends.text.questions import read_size as read
    from .ir import COMPARISONS, Compare
    from .normalize.divisors import check_question

    size = read(source, signature, report)
    if size is not None:
        check_question(signature, Compare(COMPARISONS["=="], size, size), report)
    return size


def bind_arguments(signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``{parameter: value}`` of a call, as Python binds it; omitted defaults are left out.

    Raises:
        TypeError: The call does not fit the parameters.
    """
    return dict(python_signature(signature).bind(*args, **kwargs).arguments)


def python_signature(signature: Signature) -> inspect.Signature:
    """Returns the spec's parameters as Python's own signature object."""
    return inspect.Signature(
        [
            inspect.Parameter(
                param.name,
                getattr(inspect.Parameter, param.kind.name),  # the kinds are named as Python names them
                default=None if param.default else inspect.Parameter.empty,
            )
            for param in signature.params
        ]
    )


def at_structure(
    signature: Signature, arguments: Mapping[str, Any] | None, is_tensor: Callable[[object], bool], report: Report
) -> Expanded | None:
    """IR → IR at one structure: ranks, lengths and None-ness as the arguments have them."""
    from .ir.expand import expand

    return expand(signature, arguments, is_tensor=is_tensor, report=report)


def solve(expanded: Expanded, report: Report) -> Expanded | None:
    """IR at one structure → the same, with its variables computed where reading dims one by one does not do."""
    from .normalize import solve as solve_expanded

    return solve_expanded(expanded, report)


def nearest(signature: Signature, sizes: Mapping[str, int]) -> Mapping[str, int] | None:
    """A signature at one structure, and sizes that it refuses → sizes near them that it accepts, if any are found."""
    from .normalize.sampling import nearest as nearest_sizes

    return nearest_sizes(signature, sizes)


def lower(
    expanded: Expanded, report: Report, *, statics: Mapping[str, int], allow_negative_ints: bool = False
) -> Lowered | None:
    """IR at one structure → lowerable form.

    Args:
        expanded: From `at_structure`.
        report: Receives why it cannot be lowered; a contradictory spec never is.
        statics: The value of each ``const X = _`` at the example.
        allow_negative_ints: Whether the entry point can take an int that may be negative.
    """
    from .normalize import lower as lower_expanded

    lowered = lower_expanded(expanded, report, statics=statics, allow_negative_ints=allow_negative_ints)
    return None if lowered is None else replace(lowered, reasoner=Reasoning())


class Reasoning:
    """Answers what messages about a lowered spec ask; see `ir.expanded.Reasoner`."""

    def decide(self, lowered: Lowered, predicate: Predicate) -> bool | str | None:
        """Returns True if the spec implies ``predicate``, False if its negation, None if neither; or why that is unknown."""
        from .ir import COMPARISONS, Compare, Const, Not, Var
        from .normalize.decide import Proved, Refuted, implied_by

        signature = lowered.expanded.signature
        given = [constraint.predicate for constraint in signature.constraints]
        given += [  # what was taken from the example
            Compare(COMPARISONS["=="], Var(name), size) for name, size in lowered.definitions if isinstance(size, Const)
        ]
        reason = ""
        for asked, answer in ((predicate, True), (Not(predicate), False)):
            match implied_by(signature.variables, given, asked):
                case Proved():
                    return answer
                case Refuted():
                    pass
                case unknown:
                    reason = unknown.reason
        if not reason:
            return None
        factors = _factors(predicate)
        if len(factors) > 1 and all(self.decide(lowered, factor) is True for factor in factors):
            return isinstance(predicate, Compare) and predicate.op.name == "!="
        return reason

    def cures(self, lowered: Lowered, predicate: Predicate, sizes: Mapping[str, int]) -> Sequence[Cure]:
        """Returns the smallest assumptions that decide ``predicate``, those that ``sizes`` satisfy first."""
        from .normalize.cures import cures

        return cures(lowered, predicate, hints=sizes)

    def shorter(self, predicate: Predicate) -> Predicate:
        """Returns ``predicate``, or its canonical form where that is one comparison, and shorter."""
        from .ir import Compare
        from .ir.write import write_predicate
        from .normalize.predicates import simplify_predicate

        simple = simplify_predicate(predicate)
        briefer = isinstance(simple, Compare) and len(write_predicate(simple)) < len(write_predicate(predicate))
        return simple if briefer else predicate

    def shorter_size(self, size: Size) -> Size:
        """Returns ``size``, or its canonical form where that is shorter."""
        from .ir.write import write_dim
        from .normalize.algebra import canonical

        simple = canonical(size)
        return simple if len(write_dim(simple)) < len(write_dim(size)) else size


def _factors(predicate: Predicate) -> list[Predicate]:
    """Returns ``a != 0, b != 0`` of ``a * b == 0`` and of ``a * b != 0``: all of these decide either."""
    from .ir import COMPARISONS, Apply, Compare, Const

    match predicate:
        case Compare(op=op, left=left, right=Const(value=0)) if op.name in ("==", "!="):
            pending = [left]
            factors: list[Predicate] = []
            while pending:
                match pending.pop():
                    case Apply(op=inner, args=args) if inner.name == "*":
                        pending += reversed(args)
                    case factor:
                        factors.append(Compare(COMPARISONS["!="], factor, Const(0)))
            return factors
        case _:
            return []


def lower_without_example(signature: Signature, report: Report) -> Lowered | None:
    """IR → lowerable form, as far as no example is needed.

    Args:
        signature: Without alternatives that matter: those are left out.
        report: Receives why it cannot be lowered, a rank that only an example would tell included.
    """
    expanded = at_structure(signature, None, lambda _: False, report)
    if expanded is None or normal_form(signature, report).contradictory:
        return None
    return lower(expanded, report, statics={})


def source_text(lowered: Sequence[Lowered]) -> str:
    """Lowerable forms → a Python module that builds their ShapesSpecs; torch is needed to run it only."""
    from .targets.source_text import write_sources

    return write_sources(lowered)


def legacy_dims(signature: Signature, report: Report) -> DimsForm | None:
    """IR → what torch's legacy dims say; ``report`` receives what they cannot, and a rank or length that is open."""
    from .normalize.legacy_dims import legacy_dims as form
    from .normalize.legacy_dims import without_trailing_ellipses

    if normal_form(signature, report).contradictory or report.errors:
        return None
    expanded = at_structure(without_trailing_ellipses(signature), None, lambda _: False, report)
    return None if expanded is None else form(expanded.signature, report)


def dims_text(forms: Sequence[DimsForm]) -> str:
    """Legacy dims → a Python module that builds them; torch is needed to run it only."""
    from .targets.dims_text import write_dims

    return write_dims(forms)


def source_json(lowered: Lowered) -> Mapping[str, object]:
    """Lowerable form → what `source_text` builds, as data for `json.dumps`."""
    from .targets.source_json import write_json

    return write_json(lowered)


def static_sizes(expanded: Expanded, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Returns the value that each ``const X = _`` has in ``arguments``: read off dims, scalars and lengths."""
    from .ir import VariableKind

    consts = {v.name for v in expanded.signature.variables if v.kind is VariableKind.CONST}
    if not consts:
        return {}
    from .runtime.explain import sizes_of
    from .runtime.solve import solved

    whole = solved(expanded, Report(), solve) or expanded  # what stays unknown is told when it is lowered
    return {name: size for name, size in sizes_of(whole, arguments).items() if name in consts}


def compare_program(program: Program, lowered: Lowered, report: Report, allowed: Collection[str] = ()) -> None:
    """A program and the spec it was made with: what it demands and the spec does not imply is reported.

    Args:
        program: From export, or a graph from make_fx.
        lowered: The spec.
        report: Receives ``merged-dims``, ``specialized-dim``, ``extra-assumption``, ``undecided``.
        allowed: Codes that are not reported.
    """
    from .normalize.decide import Proved, Refuted, implied_by
    from .targets.compare import compare

    signature = lowered.expanded.signature
    stated = [constraint.predicate for constraint in signature.constraints]

    def refute(predicate: Predicate, given: tuple[Predicate, ...]) -> Mapping[str, int] | str | None:
        match implied_by(signature.variables, [*stated, *given], predicate):
            case Proved():
                return None
            case Refuted(witness=witness):
                return dict(witness)
            case unknown:
                return unknown.reason

    compare(program, lowered, refute, report, allowed)


@dataclass(frozen=True, slots=True)
class Selected:
    """One alternative as a signature of its own, and whether torch runs it."""

    signature: Signature
    mode: Mode


def compare(old: Signature, new: Signature) -> Compared:
    """Two versions of a spec → what callers of the old one lose and gain with the new one."""
    from .normalize.compare import compare as compare_signatures

    return compare_signatures(old, new)


def compare_files(old: Iterable[Signature], new: Iterable[Signature]) -> FilesCompared:
    """Two versions of a file → the same for each spec, and the specs that only one of them has."""
    from .normalize.compare.files import compare_files as compare_modules

    return compare_modules(old, new)


def alternative_at(signature: Signature, name: str, report: Report) -> int | None:
    """Returns which alternative is called ``name``, or is ``otherwise``; ``report`` receives ``unknown-case``."""
    for position, each in enumerate(signature.alternatives):
        if each.name == name or (each.name is None and each.keyword == name == "otherwise"):
            return position
    names = [a.name or a.keyword for a in signature.alternatives if a.name or a.keyword == "otherwise"]
    report.error(
        "unknown-case",
        f"`{signature.name}` has no case `{name}`",
        at=signature.span,
        help=f"its cases are {', '.join(names)}" if names else "it has no cases",
    )
    return None


def select(signature: Signature, name: str, report: Report) -> Selected | None:
    """The spec of one alternative: ``where``, its own predicates, and the negation of each earlier one.

    Args:
        signature: With alternatives.
        name: A case's name, or ``otherwise``.
        report: Receives ``unknown-case``, and ``cases-not-lowered`` where a bucket is involved.
    """
    position = alternative_at(signature, name, report)
    if position is None:
        return None
    alternative, earlier = signature.alternatives[position], signature.alternatives[:position]
    for bucketed in (*earlier, alternative):
        if bucketed.buckets:
            report.error(
                "cases-not-lowered",
                f"`{name}` cannot be lowered alone: a bucket decides which sizes reach it",
                at=bucketed.span,
                help="lower the `where` part, without `case=`",
            )
            return None
    from .ir import Constraint
    from .ir.taking import negation

    constraints = [*signature.constraints, *alternative.constraints]
    constraints += [
        Constraint(negation(other), None, text=f"not {other.name or 'an earlier case'}", span=other.span)
        for other in earlier
    ]
    hints = dict(alternative.hints)
    variables = tuple(replace(v, hint=hints.get(v.name, v.hint)) for v in signature.variables)
    return Selected(
        replace(signature, constraints=tuple(constraints), variables=variables, alternatives=()), alternative.mode
    )


def raise_if_wrong(report: Report) -> None:
    """Raises `ShapeError` if ``report`` holds an error."""
    if report.errors:
        raise ShapeError(report)


__all__ = [
    "Selected",
    "at_structure",
    "bind_arguments",
    "check",
    "check_buckets",
    "compare",
    "compare_files",
    "compare_program",
    "convert_legacy",
    "cover",
    "decode",
    "dims_text",
    "format_text",
    "legacy_dims",
    "lower",
    "lower_without_example",
    "normal_form",
    "python_signature",
    "raise_if_wrong",
    "read",
    "read_file",
    "read_legacy",
    "read_python",
    "read_question",
    "read_size",
    "read_stub",
    "resolve",
    "sayable",
    "select",
    "solve",
    "source_json",
    "source_text",
    "static_sizes",
    "stubs_below",
    "together",
    "with_assumptions",
    "with_clauses",
    "write_stub",
    "write_text",
]
