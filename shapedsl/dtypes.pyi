# ruff: noqa: A001, RUF022  # torch's names
from typing import Any

import torch
from typing_extensions import TypeAliasType, TypeVarTuple, Unpack

_Ts = TypeVarTuple("_Ts", default=Unpack[tuple[Any, ...]])

bcomplex32 = TypeAliasType("bcomplex32", torch.Tensor, type_params=(_Ts,))
bfloat16 = TypeAliasType("bfloat16", torch.Tensor, type_params=(_Ts,))
bits16 = TypeAliasType("bits16", torch.Tensor, type_params=(_Ts,))
bits1x8 = TypeAliasType("bits1x8", torch.Tensor, type_params=(_Ts,))
bits2x4 = TypeAliasType("bits2x4", torch.Tensor, type_params=(_Ts,))
bits4x2 = TypeAliasType("bits4x2", torch.Tensor, type_params=(_Ts,))
bits8 = TypeAliasType("bits8", torch.Tensor, type_params=(_Ts,))
bool = TypeAliasType("bool", torch.Tensor, type_params=(_Ts,))
cdouble = TypeAliasType("cdouble", torch.Tensor, type_params=(_Ts,))
cfloat = TypeAliasType("cfloat", torch.Tensor, type_params=(_Ts,))
chalf = TypeAliasType("chalf", torch.Tensor, type_params=(_Ts,))
complex128 = TypeAliasType("complex128", torch.Tensor, type_params=(_Ts,))
complex32 = TypeAliasType("complex32", torch.Tensor, type_params=(_Ts,))
complex64 = TypeAliasType("complex64", torch.Tensor, type_params=(_Ts,))
complexfloating = TypeAliasType("complexfloating", torch.Tensor, type_params=(_Ts,))
double = TypeAliasType("double", torch.Tensor, type_params=(_Ts,))
float = TypeAliasType("float", torch.Tensor, type_params=(_Ts,))
float16 = TypeAliasType("float16", torch.Tensor, type_params=(_Ts,))
float32 = TypeAliasType("float32", torch.Tensor, type_params=(_Ts,))
float4_e2m1fn_x2 = TypeAliasType("float4_e2m1fn_x2", torch.Tensor, type_params=(_Ts,))
float64 = TypeAliasType("float64", torch.Tensor, type_params=(_Ts,))
float8_e4m3fn = TypeAliasType("float8_e4m3fn", torch.Tensor, type_params=(_Ts,))
float8_e4m3fnuz = TypeAliasType("float8_e4m3fnuz", torch.Tensor, type_params=(_Ts,))
float8_e5m2 = TypeAliasType("float8_e5m2", torch.Tensor, type_params=(_Ts,))
float8_e5m2fnuz = TypeAliasType("float8_e5m2fnuz", torch.Tensor, type_params=(_Ts,))
float8_e8m0fnu = TypeAliasType("float8_e8m0fnu", torch.Tensor, type_params=(_Ts,))
floating = TypeAliasType("floating", torch.Tensor, type_params=(_Ts,))
half = TypeAliasType("half", torch.Tensor, type_params=(_Ts,))
int = TypeAliasType("int", torch.Tensor, type_params=(_Ts,))
int1 = TypeAliasType("int1", torch.Tensor, type_params=(_Ts,))
int16 = TypeAliasType("int16", torch.Tensor, type_params=(_Ts,))
int2 = TypeAliasType("int2", torch.Tensor, type_params=(_Ts,))
int3 = TypeAliasType("int3", torch.Tensor, type_params=(_Ts,))
int32 = TypeAliasType("int32", torch.Tensor, type_params=(_Ts,))
int4 = TypeAliasType("int4", torch.Tensor, type_params=(_Ts,))
int5 = TypeAliasType("int5", torch.Tensor, type_params=(_Ts,))
int6 = TypeAliasType("int6", torch.Tensor, type_params=(_Ts,))
int64 = TypeAliasType("int64", torch.Tensor, type_params=(_Ts,))
int7 = TypeAliasType("int7", torch.Tensor, type_params=(_Ts,))
int8 = TypeAliasType("int8", torch.Tensor, type_params=(_Ts,))
integral = TypeAliasType("integral", torch.Tensor, type_params=(_Ts,))
long = TypeAliasType("long", torch.Tensor, type_params=(_Ts,))
number = TypeAliasType("number", torch.Tensor, type_params=(_Ts,))
qint32 = TypeAliasType("qint32", torch.Tensor, type_params=(_Ts,))
qint8 = TypeAliasType("qint8", torch.Tensor, type_params=(_Ts,))
quint2x4 = TypeAliasType("quint2x4", torch.Tensor, type_params=(_Ts,))
quint4x2 = TypeAliasType("quint4x2", torch.Tensor, type_params=(_Ts,))
quint8 = TypeAliasType("quint8", torch.Tensor, type_params=(_Ts,))
short = TypeAliasType("short", torch.Tensor, type_params=(_Ts,))
uint1 = TypeAliasType("uint1", torch.Tensor, type_params=(_Ts,))
uint16 = TypeAliasType("uint16", torch.Tensor, type_params=(_Ts,))
uint2 = TypeAliasType("uint2", torch.Tensor, type_params=(_Ts,))
uint3 = TypeAliasType("uint3", torch.Tensor, type_params=(_Ts,))
uint32 = TypeAliasType("uint32", torch.Tensor, type_params=(_Ts,))
uint4 = TypeAliasType("uint4", torch.Tensor, type_params=(_Ts,))
uint5 = TypeAliasType("uint5", torch.Tensor, type_params=(_Ts,))
uint6 = TypeAliasType("uint6", torch.Tensor, type_params=(_Ts,))
uint64 = TypeAliasType("uint64", torch.Tensor, type_params=(_Ts,))
uint7 = TypeAliasType("uint7", torch.Tensor, type_params=(_Ts,))
uint8 = TypeAliasType("uint8", torch.Tensor, type_params=(_Ts,))

__all__ = [
    "bcomplex32",
    "bfloat16",
    "bits16",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bool",
    "cdouble",
    "cfloat",
    "chalf",
    "complex128",
    "complex32",
    "complex64",
    "complexfloating",
    "double",
    "float",
    "float16",
    "float32",
    "float4_e2m1fn_x2",
    "float64",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "floating",
    "half",
    "int",
    "int1",
    "int16",
    "int2",
    "int3",
    "int32",
    "int4",
    "int5",
    "int6",
    "int64",
    "int7",
    "int8",
    "integral",
    "long",
    "number",
    "qint32",
    "qint8",
    "quint2x4",
    "quint4x2",
    "quint8",
    "short",
    "uint1",
    "uint16",
    "uint2",
    "uint3",
    "uint32",
    "uint4",
    "uint5",
    "uint6",
    "uint64",
    "uint7",
    "uint8",
]
