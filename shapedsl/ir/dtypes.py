"""The names that stand before ``[…]`` for a dtype: torch's dtypes, their aliases, and families of them."""

from __future__ import annotations

from typing import Final

DTYPES: Final = frozenset(
    [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex32",
        "complex64",
        "complex128",
        "bcomplex32",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn_x2",
        "quint8",
        "qint8",
        "qint32",
        "quint4x2",
        "quint2x4",
        "bits8",
        "bits16",
        "bits1x8",
        "bits2x4",
        "bits4x2",
        "int1",
        "int2",
        "int3",
        "int4",
        "int5",
        "int6",
        "int7",
        "uint1",
        "uint2",
        "uint3",
        "uint4",
        "uint5",
        "uint6",
        "uint7",
    ]
)
FAMILIES: Final = frozenset(("floating", "integral", "complexfloating", "number"))
ALIASES: Final = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


def dtype_name(name: str) -> str | None:
    """Returns torch's own name of the dtype or family that ``name`` spells; None if it spells none.

    >>> dtype_name("long"), dtype_name("torch.float32"), dtype_name("floating"), dtype_name("Cache")
    ('int64', 'float32', 'floating', None)
    """
    bare = name.removeprefix("torch.")
    if bare in DTYPES or bare in FAMILIES:
        return bare
    return ALIASES.get(bare)
