"""``@shapes(check=True)``: a function of the same parameters that checks each call first.

Before::

    def project(x, n=3): ...

After (names shortened; it stands on the same line of the same file)::

    def project(x, n=omitted):
        is_tracing() or check(x, n)
        n = default if n is omitted else n
        return target(x, n)

The parameters keep their names, since torch binds an attached spec to those of the frame that it compiles: behind ``*args``
it would ignore the spec. A default is not checked unless it was passed, so the check must know which. A coroutine
function stays one, and so do both kinds of generator functions: they are checked when their bodies would begin.
The check itself is made at the first call.
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType

from .attached import AttachedSpec

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

# Of `inspect`, which is heavy: CO_VARARGS and so on.
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200

# What `yield from` would be in an asynchronous generator: PEP 380's semantics, with `await`.
_DELEGATION = """\
{p}inner = {call}
try:
    {p}value = await {p}inner.__anext__()
    while True:
        try:
            {p}sent = yield {p}value
        except GeneratorExit:
            await {p}inner.aclose()
            raise
        except BaseException as {p}error:
            {p}value = await {p}inner.athrow({p}error)
        else:
            {p}value = await {p}inner.asend({p}sent)
except StopAsyncIteration:
    pass"""


def checked(target: Any) -> Any:
    """Returns what does as ``target`` does after checking its arguments by its spec, if it has one.

    Args:
        target: A function, a static or class method, or a class: then each of its functions that is annotated or
            decorated is replaced, and the class comes back.
    """
    if isinstance(target, type):
        for name, value in list(vars(target).items()):
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType) and _may_speak(function):
                setattr(target, name, checked(value))
        return target
    if type(target) in (staticmethod, classmethod):
        return type(target)(checked(target.__func__))
    return target if _is_checked(target) else _wrapper(target)


def _may_speak(function: FunctionType) -> bool:
    said = function.__dict__
    return "__shapedsl__" in said or "__shapedsl_class__" in said or bool(getattr(function, "__annotations__", None))


def _is_checked(function: Any) -> bool:
    """Returns whether ``function`` is one of ours; `functools.wraps` copies the mark onto others."""
    mark = getattr(function, "__shapedsl_checked__", None)
    return mark is not None and mark is getattr(function, "__code__", None)


def _wrapper(target: Any) -> Any:
    """Returns the function that stands in for ``target``."""
    code: CodeType | None = target.__code__ if isinstance(target, FunctionType) else None  # else a method, as a rule
    prefix = "_s_"
    while code is not None and any(name.startswith(prefix) for name in code.co_varnames):
        prefix = "_" + prefix
    torch = sys.modules.get("torch")
    scope: dict[str, Any] = {
        "__name__": __name__,
        "__tracebackhide__": True,  # pytest shows the call and what it ran into, not this frame
        f"{prefix}target": target,
        f"{prefix}tracing": is_tracing if torch is None else torch.compiler.is_dynamo_compiling,
    }
    made = _compiled(target, code, prefix, scope)
    functools.update_wrapper(made, target)
    made.__dict__.pop("__shapedsl__", None)  # it is found on what is wrapped
    if made.__dict__.pop("_dynamic_spec", None) is not None:
        made._dynamic_spec = AttachedSpec(made)  # type: ignore[attr-defined]
    made.__shapedsl_checked__ = made.__code__  # type: ignore[attr-defined]

    def first(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        from .api.entries import checker_of  # the whole compiler; only now

        check = scope[f"{prefix}check"] = checker_of(made)
        check(*args, **kwargs)

    scope[f"{prefix}check"] = first
    return made


def _compiled(target: Any, code: CodeType | None, prefix: str, scope: dict[str, Any]) -> FunctionType:
    """Returns the wrapper without its metadata; ``scope`` are its globals."""
    header, passed = ("*args, **kwargs",) * 2 if code is None else _parameters(code)
    flags = 0 if code is None else code.co_flags
    lines = [f"{prefix}tracing() or {prefix}check({passed})"]
    secret = {} if code is None else _secret_defaults(target, code)
    for name, default in secret.items():
        scope[f"{prefix}default_{name}"] = default
        lines.append(f"{name} = {prefix}default_{name} if {name} is {prefix}omitted else {name}")
    call = f"{prefix}target({passed})"
    if flags & _ASYNC_GENERATOR:
        lines += _DELEGATION.format(p=prefix, call=call).splitlines()
    else:
        before = "await " if flags & _COROUTINE else "yield from " if flags & _GENERATOR else ""
        lines.append(f"return {f'({before}{call})' if before else call}")
    head = "async def" if flags & (_COROUTINE | _ASYNC_GENERATOR) else "def"
    name = getattr(target, "__name__", type(target).__name__)
    text = "\n    ".join([f"{head} {prefix}f({header}):", *lines])
    file, line = ("<shapedsl check>", 1) if code is None else (code.co_filename, code.co_firstlineno)
    exec(_code(text, file, line), scope)  # noqa: S102 - our own text
    made: FunctionType = scope.pop(f"{prefix}f")
    made.__code__ = made.__code__.replace(co_name=name)  # what tracebacks show
    if secret:
        from .runtime.parameters import OMITTED  # the check knows it for an argument that was not passed

        scope[f"{prefix}omitted"] = OMITTED
        made.__defaults__ = target.__defaults__ and tuple(OMITTED if d is not None else d for d in target.__defaults__)
        made.__kwdefaults__ = target.__kwdefaults__ and {
            name: OMITTED if name in secret else None for name in target.__kwdefaults__
        }
    elif code is not None:
        made.__defaults__, made.__kwdefaults__ = target.__defaults__, target.__kwdefaults__
    return made


@functools.lru_cache(maxsize=1024)  # a nested function is made again at each call of the one around it
def _code(text: str, file: str, line: int) -> CodeType:
    """Returns the compiled text, standing where the function stands: other decorators look where that is."""
    import ast

    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.excepthandler, ast.keyword)):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1  # no column: a traceback would mark some part of that line
    return compile(tree, file, "exec", dont_inherit=True)


def _parameters(code: CodeType) -> tuple[str, str]:
    """Returns what stands in the brackets of the ``def``, without defaults, and of a call that passes everything on."""
    names = list(code.co_varnames)
    positional, every = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    header, passed, rest = names[:positional], names[:positional], names[every:]
    if code.co_posonlyargcount:
        header.insert(code.co_posonlyargcount, "/")
    if code.co_flags & _VARARGS:
        header.append(f"*{rest[0]}")
        passed.append(f"*{rest.pop(0)}")
    elif every > positional:
        header.append("*")
    header += names[positional:every]
    passed += [f"{name}={name}" for name in names[positional:every]]
    if code.co_flags & _VARKEYWORDS:
        header.append(f"**{rest[0]}")
        passed.append(f"**{rest[0]}")
    return ", ".join(header), ", ".join(passed)


def _secret_defaults(function: FunctionType, code: CodeType) -> dict[str, object]:
    """Returns the defaults, by parameter, that the wrapper must tell from what is passed: all but None."""
    positional = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(positional) : code.co_argcount]
    every = {**dict(zip(names, positional, strict=True)), **(function.__kwdefaults__ or {})}
    return {name: default for name, default in every.items() if default is not None}


def is_tracing() -> bool:
    """Returns whether dynamo traces this call, also where torch is loaded later than the function was made."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_dynamo_compiling())


__all__ = ["checked", "is_tracing"]
