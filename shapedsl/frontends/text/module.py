"""A file: its statements → scopes → signatures."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ...diagnostics import Report, Source
from ...ir import Level, Module, Signature
from . import limits
from .build_statements import BROKEN
from .define import Definer, SharedWhere
from .expand import const_value, declaration_of, let_size
from .imports import Importer, Load, resolved
from .limits import UnreadableError
from .overrides import by_file, override
from .parse import parse
from .scope import ConstEntry, LetEntry, Scope, Session, SizeEntry
from .slips import is_alike
from .syntax import Broken, Class, Def, Import, Language, Name, Statement, Where

VERSIONS = ("1",)


def read(
    source: Source,
    report: Report,
    *,
    consts: Mapping[str, int] | None = None,
    base: Path | None = None,
    load: Load | None = None,
) -> Module:
    """Returns the signatures of a file's text; those of broken defs are left out.

    Args:
        source: The text.
        report: Receives every finding.
        consts: Overrides of ``const`` statements; ``"common.shapes:LIMIT"`` for one of an imported file.
        base: The folder that imports are relative to; None: there is none, and an import is an error.
        load: Reads an imported file; by default from disk.
    """
    collecting = gc.isenabled()
    gc.disable()  # see `parse`
    try:
        return _Reader(source, report, consts or {}, base, load).module()
    finally:
        if collecting:
            gc.enable()


class _Reader:
    def __init__(
        self, source: Source, report: Report, consts: Mapping[str, int], base: Path | None, load: Load | None
    ) -> None:
        self._source = source
        self._report = report
        self._base = base
        self._session = Session(report)
        self._session.budget += limits.BUDGET_PER_CHARACTER * len(source.text)
        self._made: dict[str, Signature] = {}
        self._importer = Importer(report, load, self._imported)
        self._overrides = by_file(consts, report)
        self._scopes: list[Scope] = []
        self._imports: list[tuple[str, Path | None, Scope | None]] = []  # as written, the file, what it declares
        self._order = 0
        self._has_faults = False

    def module(self) -> Module:
        """Returns the file's signatures."""
        errors = len(self._report.errors)
        statements: list[Statement] = parse(self._source, self._report, "file")
        self._has_faults = len(self._report.errors) > errors
        scope = Scope(self._session)
        self._scopes.append(scope)
        try:
            self._declare_main(scope, statements)
            for file, names in self._overrides.items():
                self._override(scope, file, names)
            evaluate(scope)
            self._signatures(statements, scope)
        except UnreadableError as error:  # the budget is used up
            error.tell(self._report)
        return Module(tuple(self._made.values()), self._source.span(0, len(self._source.text)))

    # ---------------------------------------------------------------------------- declarations

    def _declare_main(self, scope: Scope, statements: Iterable[Statement]) -> None:
        if self._base is None:
            self._declare(scope, statements, None)
            return
        with suppress(OSError, ValueError, RuntimeError):  # its name may be no path
            self._importer.open(Path(self._source.name).resolve())
        self._declare(scope, statements, self._base)

    def _declare(self, scope: Scope, statements: Iterable[Statement], base: Path | None) -> None:
        seen_language = False
        for position, statement in enumerate(statements):
            if isinstance(statement, Import):
                self._import(scope, statement, base)
            elif isinstance(statement, Broken):
                self._session.broken |= statement.names
            elif isinstance(statement, Language):
                self._language(statement, first=position == 0, again=seen_language)
                seen_language = True
        scope.declare(statements)

    def _language(self, statement: Language, *, first: bool, again: bool) -> None:
        if statement.version not in VERSIONS:
            self._report.error(
                "unknown-language-version",
                f"language {statement.version[:20]} is not known",
                at=statement.span,
                help=f"this reader knows language {', '.join(VERSIONS)}",
            )
        elif again:
            self._report.error("duplicate-name", "the language is named twice", at=statement.span)
        elif not first:
            self._report.error("syntax-error", "`language` is a file's first statement", at=statement.span)

    def _import(self, scope: Scope, statement: Import, base: Path | None) -> None:
        imported = self._importer.scope(statement, base)
        self._imports.append((statement.path, None if base is None else resolved(base / statement.path), imported))
        if imported is None:
            self._session.broken.update(name.text for name in statement.names)
            return
        for name in statement.names:
            entry = imported.entries.get(name.text)
            if entry is None:
                self._unknown_import(name, statement, imported)
            else:
                scope.add(name.text, entry, name.span)

    def _override(self, main: Scope, file: str, names: Mapping[str, int]) -> None:
        """Gives constants of one file other values, before anything is evaluated."""
        if not file:
            override(main, names, self._scopes)
            return
        path = None if self._base is None else resolved(self._base / file)
        found = [scope for _, key, scope in self._imports if key is not None and key == path]
        found = found or [scope for written, _, scope in self._imports if written == file]
        if not found:
            self._report.error(
                "unknown-name",
                f"there is no import of `{file}` in which to override {', '.join(names)}",
                help="write its path from the file that is read, or as the import does",
            )
        for scope in dict.fromkeys(found):
            if scope is not None:
                override(scope, names, self._scopes)

    def _unknown_import(self, name: Name, statement: Import, imported: Scope) -> None:
        if name.text in self._session.broken:
            return
        from difflib import get_close_matches  # only a wrong name needs it

        close = get_close_matches(name.text, imported.entries, 1)
        self._report.error(
            "unknown-name",
            f"`{statement.path}` declares no `{name.text}`",
            at=name.span,
            help=f"did you mean `{close[0]}`?" if close else (),
        )

    def _imported(self, source: Source, base: Path) -> Scope:
        """Returns the scope of an imported file; its defs are not looked at."""
        self._session.budget += limits.BUDGET_PER_CHARACTER * len(source.text)
        scope = Scope(self._session)
        self._scopes.append(scope)
        self._declare(scope, parse(source, self._report, "file"), base)
        return scope

    # -------------------------------------------------------------------------------- defs

    def _signatures(self, statements: Iterable[Statement], scope: Scope) -> None:
        wheres = self._wheres(statements, scope)
        definer = Definer(scope, wheres)
        for statement in statements:
            if isinstance(statement, Def):
                self._add(definer, statement, "")
            elif isinstance(statement, Class):
                if any(not isinstance(member, (Def, str)) for member in statement.members):
                    inner = Scope(self._session, scope, Level.CLASS)
                    inner.declare(statement.members)
                    evaluate(inner)
                    own = self._wheres(statement.members, inner)
                    wheres += own
                    members = (
                        Definer(inner, [*wheres[: len(wheres) - len(own)], *own]) if own else Definer(inner, wheres)
                    )
                else:
                    members = definer
                prefix = "" if statement.name.text == BROKEN else f"{statement.name.text}."
                for member in statement.members:
                    if isinstance(member, Def):
                        self._add(members, member, prefix or "?.")
        self._check_wheres(wheres)
        self._check_slips(scope)

    def _check_slips(self, scope: Scope) -> None:
        """Warns of a declaration that no def uses where a name like it is used and declared nowhere."""
        met = self._session.met
        undeclared = [name for name, entry in met.items() if entry is None]
        for name, entry in scope.entries.items():
            if entry.scope is not scope or name in met:
                continue
            used = next((other for other in undeclared if is_alike(name, other)), None)
            if used is not None:
                self._report.warning(
                    "similar-name",
                    f"`{name}` is declared and not used, `{used}` is used and not declared",
                    at=entry.name.span,
                    label=f"did you mean `{used}`?",
                )

    def _wheres(self, statements: Iterable[object], scope: Scope) -> list[SharedWhere]:
        found: list[SharedWhere] = []
        for statement in statements:
            if isinstance(statement, Where):
                self._order += 1
                try:
                    found.append(SharedWhere(statement, scope, self._order))
                except UnreadableError as error:
                    error.tell(self._report)
        return found

    def _check_wheres(self, wheres: list[SharedWhere]) -> None:
        for where in wheres:
            if not where.used and where.reaches and not self._has_faults:  # the def that binds them may be broken
                names = ", ".join(f"`{name}`" for name in sorted(where.reaches))
                self._report.error(
                    "unbound-name",
                    f"no def binds {names}",
                    at=where.statement.span,
                    help="a `where` of a file or class holds for the defs whose parameters bind all its names",
                )

    def _add(self, definer: Definer, definition: Def, prefix: str) -> None:
        if definition.name.text == BROKEN:
            return
        try:
            signature = definer.define(definition, prefix)
        except UnreadableError as error:
            if self._session.budget < 0:
                raise
            error.tell(self._report)
            return
        if prefix == "?.":
            return  # its class could not be read, so it has no name
        first = self._made.setdefault(signature.key, signature)
        if first is not signature:
            self._report.error(
                "duplicate-name",
                f"`{signature.key}` is specified twice",
                at=signature.span,
                also=[(first.span, "first here")],
                help=f"the second spec of one callable is `{signature.name}@{signature.index + 1}`",
            )


def evaluate(scope: Scope) -> None:
    """Evaluates the declarations of ``scope`` in order, so that what is wrong with them is said even if none is used."""
    for entry in scope.entries.values():
        if entry.scope is not scope:
            continue
        if isinstance(entry, ConstEntry):
            const_value(entry)
        elif isinstance(entry, LetEntry):
            let_size(entry)
        elif isinstance(entry, SizeEntry):
            declaration_of(entry)


__all__ = ["VERSIONS", "evaluate", "read"]
