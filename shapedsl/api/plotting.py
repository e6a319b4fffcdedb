"""Pictures of a profile, of a spec, and of both together; text for a terminal, or SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import pipeline
from ..diagnostics import Report
from ..ir import Bucket, Signature
from ..normalize.sampling import points
from ..serving.pictures.coverage import CoverageMap, Taker, axes_of, coverage_map, deciding, reach
from ..serving.pictures.histogram import Histogram, histogram
from ..serving.pictures.text import coverage_text, histogram_text
from ..serving.profiles.profile import Profile
from ..serving.profiles.traffic import Traffic, observed_sizes
from .spec import Spec
from .suggesting import suggest_profile

_MOST = 3  # histograms, where nobody says which


@dataclass(frozen=True)
class Pictures:
    """What was drawn. ``str()`` is text for a terminal.

    Attributes:
        pictures: Histograms first.
    """

    pictures: tuple[Histogram | CoverageMap, ...]

    def __str__(self) -> str:
        return "\n\n".join(
            histogram_text(each) if isinstance(each, Histogram) else coverage_text(each) for each in self.pictures
        )

    def svg(self) -> str:
        """Returns an SVG document.

        Raises:
            ImportError: matplotlib is not installed; it is in ``shapedsl[plot]``.
        """
        try:
            from ..serving.pictures.svg import pictures_svg

            return pictures_svg(self.pictures)
        except ImportError as error:
            raise ImportError("SVG pictures need matplotlib: pip install 'shapedsl[plot]'") from error


def pictures(
    profile: Profile | None,
    spec: Spec | None,
    *,
    of: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> Pictures:
    """Returns a histogram of what calls asked for, against the buckets, and a map of what the alternatives take.

    Args:
        profile: Calls; None for a map alone.
        spec: Their spec; by default the one that the profile has, else it is inferred.
        of: Variables: of a map, its columns and rows. By default those on which the choice depends.
        sizes: Of variables that are not on the map; by default what was seen most often, the hint, or the smallest.

    Returns:
        No picture of a spec without alternatives, where there are no calls.

    Raises:
        ShapeError: ``unknown-name``; ``empty-profile``; or the spec is wrong.
    """
    signature = _signature(profile, spec)
    traffic = None if profile is None else observed_sizes(profile, signature, solve=pipeline.solve)
    _require_names(signature, [*of, *(sizes or {})])
    drawn: list[Histogram | CoverageMap] = []
    if traffic is not None:
        drawn += _histograms(signature, traffic, of)
    if signature.alternatives:
        drawn.append(_map(signature, traffic, of, sizes or {}))
    return Pictures(tuple(drawn))


def _signature(profile: Profile | None, spec: Spec | None) -> Signature:
    if spec is not None:
        spec.normal()  # of a contradictory one nothing can be drawn
        return spec.signature
    assert profile is not None  # one of them is there
    made = suggest_profile(profile, k=1).spec.signature
    if profile.spec is not None:
        from .sources import loads

        return next(iter(loads(profile.spec).values())).signature
    return replace(made, alternatives=())  # calls that nobody wrote a spec for have no buckets either


def _require_names(signature: Signature, names: Sequence[str]) -> None:
    report = Report()
    known = [variable.name for variable in signature.variables if not variable.variadic]
    for name in names:
        if name not in known:
            variable = signature.variable(name)
            why = "is variadic, and has no axis" if variable is not None else "is no size of it"
            report.error(
                "unknown-name",
                f"`{signature.name}` cannot be drawn over `{name}`, which {why}",
                at=signature.span,
                help=f"its sizes are {', '.join(known) or 'none'}",
            )
    report.raise_errors()


def _histograms(signature: Signature, traffic: Traffic, of: Sequence[str]) -> Iterator[Histogram]:
    """Yields a histogram of each variable: of a bucketed one, over the calls that its buckets take."""
    bucketed = [(at, bucket) for at, each in enumerate(signature.alternatives) for bucket in each.buckets]
    names = list(of) or list(dict.fromkeys(bucket.variable for _, bucket in bucketed if bucket.pads is not None))
    if not names:
        names = [name for name in traffic.variables() if len(traffic.counts(name)) > 1] or traffic.variables()
        names = names[:_MOST]
    taker = Taker(signature)
    for name in names:
        mine = [(at, bucket) for at, bucket in bucketed if bucket.variable == name and bucket.pads is not None]
        counts: dict[int, int] = {}
        for call in traffic.calls:
            if name in call.sizes and (not mine or _position(taker, call.sizes) in {at for at, _ in mine}):
                counts[call.sizes[name]] = counts.get(call.sizes[name], 0) + call.times
        yield histogram(name, counts, sorted({m for _, bucket in mine for m in _members(bucket, counts)}))


def _position(taker: Taker, sizes: Mapping[str, int]) -> int | None:
    try:
        return taker.position(sizes)
    except KeyError:  # a size that this structure does not have
        return None


def _members(bucket: Bucket, counts: Mapping[int, int]) -> Iterator[int]:
    if bucket.members is not None:
        yield from bucket.members
    else:
        for size in counts:
            yield size + (bucket.residue - size) % (bucket.modulus or 1)


def _map(signature: Signature, traffic: Traffic | None, of: Sequence[str], sizes: Mapping[str, int]) -> CoverageMap:
    free = [name for name in axes_of(signature) if name not in sizes]
    axes = list(of[:2]) or free[:2]
    table = pipeline.normal_form(signature, Report()).table
    seen = {name: {} if traffic is None else traffic.counts(name) for name in axes}
    extents: dict[str, tuple[int, int]] = {}
    for name in axes:
        facts = table.get(name)
        low, high = (None, None) if facts is None else (facts.low, facts.high)
        extents[name] = reach(signature, name, seen[name], low, high)
    fixed = _fixed(signature, traffic, [name for name in sorted(deciding(signature)) if name not in axes], sizes)
    calls: dict[tuple[tuple[str, int], ...], int] = {}
    for call in () if traffic is None else traffic.calls:
        key = tuple(sorted(call.sizes.items()))
        calls[key] = calls.get(key, 0) + call.times
    return coverage_map(signature, axes, fixed, extents, calls)


def _fixed(
    signature: Signature, traffic: Traffic | None, names: Sequence[str], sizes: Mapping[str, int]
) -> dict[str, int]:
    """Returns a size for each variable that is not on the map: as given, seen most often, hinted, or that fits."""
    found: dict[str, int] = {}
    missing: list[str] = []
    for name in names:
        variable = signature.variable(name)
        counts = {} if traffic is None else traffic.counts(name)
        if name in sizes:
            found[name] = sizes[name]
        elif counts:
            found[name] = max(counts, key=lambda size: (counts[size], -size))
        elif variable is not None and variable.hint is not None:
            found[name] = variable.hint
        else:
            missing.append(name)
    if missing:
        nothing: dict[str, int] = {}
        some = next(iter(points(signature, 1, seed=0)), nothing)
        found.update({name: some.get(name, 1) for name in missing})
    return found


__all__ = ["Pictures", "pictures"]
