"""Tensors by dtype, for annotations: ``from shapedsl.dtypes import int64, floating``, then ``int64[B, D]``.

A name is one of torch's dtypes (its aliases too: ``long`` is ``int64``) or a family: ``floating``,
``integral`` (without bool), ``complexfloating``, ``number``. Bare ``int64`` says nothing of the rank.
"""

from .surface.forms import FAMILIES as _FAMILIES
from .surface.forms import Form as _Form

_DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64"
    " complex32 complex64 complex128 bcomplex32"
    " float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2"
    " quint8 qint8 qint32 quint4x2 quint2x4 bits8 bits16 bits1x8 bits2x4 bits4x2"
    " int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7"
)
_ALIASES = {
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
_forms = {name: _Form(name) for name in (*_DTYPES.split(), *_FAMILIES)}
_forms.update({alias: _forms[name] for alias, name in _ALIASES.items()})
globals().update(_forms)  # `bool` and `int` among them: nothing below this line may use the builtins
__all__ = sorted(_forms)  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]
