"""Pictures as SVG, drawn by matplotlib (the extra ``shapedsl[plot]``); equal input gives equal bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .coverage import NONE, REFUSED, CoverageMap
from .histogram import Histogram, calls

# Okabe and Ito's colors, which color-blind readers can tell apart (https://jfly.uni-koeln.de/color/).
_COLORS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c6bb1")
_NONE, _REFUSED, _INK = "#000000", "#e5e5e5", "#222222"
_BEYOND: Final = "#999999"
_TICKS: Final = 9
_MOST_ENTRIES: Final = 14  # of a legend


def pictures_svg(pictures: Sequence[Histogram | CoverageMap]) -> str:
    """Returns an SVG document of pictures, one below the other.

    A histogram has bars by size, and the members that they are padded to; a map has a color for each alternative.

    Raises:
        ImportError: matplotlib is not installed.
    """
    heights = [2.0 if isinstance(each, CoverageMap) and each.y is None else 3.8 for each in pictures]
    figure = _figure(8.0, sum(heights))
    grid = figure.subplots(len(pictures), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, each in zip(grid, pictures, strict=True):
        if isinstance(each, Histogram):
            _histogram(axes, each)
        else:
            _coverage(axes, each)
    return _document(figure)


def _histogram(axes: Any, picture: Histogram) -> None:
    colors = {padding.member: _COLORS[at % len(_COLORS)] for at, padding in enumerate(picture.paddings)}
    for at, each in enumerate(picture.bins):
        color = _COLORS[0] if not picture.paddings else _BEYOND if each.member is None else colors[each.member]
        axes.bar(at, each.count, width=0.9, color=color, linewidth=0)
    step = -(-len(picture.bins) // 14) or 1
    shown = list(range(0, len(picture.bins), step))
    axes.set_xticks(shown, [picture.bins[at].text for at in shown], rotation=35, ha="right", fontsize=8)
    axes.set_xlabel(picture.variable)
    axes.set_ylabel("calls")
    axes.yaxis.get_major_locator().set_params(integer=True)
    title = calls(picture.calls)
    if picture.paddings:
        title += f", {100 * picture.waste:.0f} % of what buckets compute is padding"
        entries = [
            (colors[each.member], f"→ {each.member:,}: {calls(each.calls)}, {100 * each.waste:.0f} % waste")
            for each in picture.paddings
            if each.calls
        ]
        if len(entries) > _MOST_ENTRIES:
            entries = [*entries[: _MOST_ENTRIES - 1], ("none", f"and {len(entries) - _MOST_ENTRIES + 1} more")]
        if picture.beyond:
            entries.append((_BEYOND, f"not padded: {calls(picture.beyond)}"))
        _legend(axes, entries)
    axes.set_title(title, fontsize=10, loc="left")


def _coverage(axes: Any, picture: CoverageMap) -> None:
    from matplotlib.colors import to_rgb

    axes.imshow(
        [[to_rgb(_color(cell)) for cell in row] for row in picture.cells],
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_xticks(*_ticks(picture.columns))
    axes.set_xlabel(picture.x)
    if picture.y is None:
        axes.set_yticks([])
    else:
        axes.set_yticks(*_ticks(picture.rows))
        axes.set_ylabel(picture.y)
    seen = {cell for row in picture.cells for cell in row}
    entries: list[tuple[str, str]] = []
    for position, label in enumerate(picture.labels):
        share = f": {100 * picture.shares[position]:.0f} % of the calls" if picture.shares else ""
        entries.append((_color(position), f"{label}{share}"))
    if NONE in seen:
        entries.append((_NONE, "no alternative"))
    if REFUSED in seen:
        entries.append((_REFUSED, "not accepted"))
    _legend(axes, entries)
    if picture.fixed:
        fixed = ", ".join(f"{name} = {size}" for name, size in picture.fixed)
        axes.set_title(f"at {fixed}", fontsize=10, loc="left")


def bars_svg(names: Sequence[str], panels: Mapping[str, Sequence[float]]) -> str:
    """Returns an SVG document with a panel of horizontal bars for each quantity.

    Args:
        names: What is compared; one bar each, from the top.
        panels: What a panel shows → a value for each name.

    Raises:
        ImportError: matplotlib is not installed.
    """
    figure = _figure(9.0, 0.9 + 0.3 * len(names))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, values), color in zip(grid, panels.items(), _COLORS, strict=False):
        axes.barh(range(len(names)), values, height=0.7, color=color)
        for at, value in enumerate(values):
            axes.annotate(f" {value:.3g}", (value, at), va="center", fontsize=8)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_yticks(range(len(names)), names, fontsize=9)
        axes.set_xticks([])
        axes.margins(x=0.25)
        axes.spines["bottom"].set_visible(False)
    grid[0].invert_yaxis()
    return _document(figure)


def _color(position: int) -> str:
    if position == NONE:
        return _NONE
    return _REFUSED if position == REFUSED else _COLORS[position % len(_COLORS)]


def _ticks(sizes: tuple[int, ...]) -> tuple[list[int], list[str]]:
    step = -(-len(sizes) // _TICKS)
    shown = [*range(0, len(sizes), step)]
    if len(sizes) - 1 - shown[-1] > step // 2:
        shown.append(len(sizes) - 1)
    return shown, [f"{sizes[at]:,}" for at in shown]


def _figure(width: float, height: float) -> Any:  # matplotlib's own types leave too much unknown
    from matplotlib.figure import Figure  # of its own: no state of pyplot, and no display

    return Figure(figsize=(width, height), layout="constrained")


def _legend(axes: Any, entries: list[tuple[str, str]]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=color, edgecolor=_INK, linewidth=0.4, label=label) for color, label in entries]
    if patches:
        axes.legend(handles=patches, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)


def _document(figure: Any) -> str:
    import matplotlib

    mpl: Any = matplotlib

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    stream = io.StringIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": "shapedsl"}
    with mpl.rc_context({"svg.hashsalt": "shapedsl", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(stream, format="svg", metadata=metadata)
    return stream.getvalue()


__all__ = ["bars_svg", "pictures_svg"]
