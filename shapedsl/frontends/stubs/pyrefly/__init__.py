"""Pyrefly's native dialect: shapes in type parameters, ``def mm[N: IntVar, K: IntVar](x: Tensor[[N, K]]) -> …``.

Its annotations become what our own spellings give, and are then read as those are; what else a file holds is
left to `stubs.interpret`. A return type is a claim: where the stub leaves it open, for the rank is not known or a flag
has no one value, it claims less, and a note says what and why. Nothing is made up from defaults.

================================  ==============================================================
``Tensor[[N + 1, *S]]``           ``Tensor[N + 1, *S]``; see `dims`
``Tensor[Shape]``                 ``Tensor[*Shape]``
``Int[N]``, ``n: N`` of ``Int``   ``Scalar[N]``
``IntTuple[2, N]``                ``(Scalar[2], Scalar[N])``
``Shape``, ``Flag``, ``Index``    ``_``
``MapIntTuples[lambda S: …]``     ``[Tensor, ...]``, or a tuple if the shapes are known
``Self`` in a tensor class        ``Tensor[*Shape]`` of that class
``A | B`` with shapes             ``_``, with a note: the language has ``T | None`` only
================================  ==============================================================
"""

from __future__ import annotations

from .functions import Dialect, dialect_of

__all__ = ["Dialect", "dialect_of"]
