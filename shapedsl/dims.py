"""Names of sizes: ``from shapedsl.dims import B, D, cdiv``. Any name can be imported.

A name is a `shapedsl.surface.symbols.Symbol`: ``2 * B + 1`` and ``cdiv(B, 8)`` are sizes, ``B < 32`` is a
predicate for ``where``. The language's functions (``min``, ``max``, ``cdiv``, ``prod``) are names too.
``_`` is a static dim.

    >>> from shapedsl.dims import B, cdiv
    >>> cdiv(2 * B + 1, 8)
    cdiv(2 * B + 1, 8)
"""

from .surface.symbols import Symbol as _Symbol


def __getattr__(name: str) -> _Symbol:
    """Returns the size called ``name``; the same object each time.

    Raises:
        AttributeError: ``name`` is a dunder, which Python itself asks for.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    symbol = globals()[name] = _Symbol(name)
    return symbol
