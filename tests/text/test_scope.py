"""Declarations: what a name means where, imports, overrides, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.ir import Dtype, Module, TensorType, VariableKind
from shapedsl.ir.write import write_predicate

from .helpers import constraints, findings, marked, module, one, same, write_files, written


def test_file_level_declarations_are_schemas() -> None:
    made = module("dim B in [0, 8] hint 4\nint k hint 2\ndef f(x: Tensor[B]): ...\ndef g(n: Scalar[k]): ...")
    f, g = made.signatures
    assert [(v.name, v.kind, v.hint) for v in f.variables] == [("B", VariableKind.DIM, 4)]
    assert [(v.name, v.kind, v.hint) for v in g.variables] == [("k", VariableKind.INT, 2)]


def test_order_of_statements_is_free() -> None:
    assert same(
        "def f(x: KV[B]): where S < N\nlet S = 2 * B\ntype KV[M] = [Tensor[M]] * N\nconst N = 3\n",
        "def f(x: [Tensor[B]] * 3): where 2 * B < 3",
    )


def test_undeclared_names() -> None:
    made = one("def f(x: Tensor[B, B + C], n: Scalar[k], m: Scalar[B]): where j < k")
    assert {v.name: v.kind.value for v in made.variables} == {"B": "dim", "C": "dim", "k": "int", "j": "int"}


def test_a_star_inside_an_expression_makes_a_name_variadic() -> None:
    made = one("def f(x: Tensor[2 * prod(*lead) + B]): ...")
    assert {v.name: v.variadic for v in made.variables} == {"B": False, "lead": True}


def test_local_declarations_come_first_then_the_classs() -> None:
    made = module(
        "dim B hint 1\nclass N:\n    dim B hint 2\n    let S = 2 * B\n    def f(self, x: Tensor[B], y: Tensor[S]): ...\n"
        "    def g(self, x: Tensor[B]):\n        dim B hint 3\ndef h(x: Tensor[B]): ...\n"
    )
    assert [(s.name, s.receiver, s.variables[0].hint) for s in made] == [
        ("N.f", "self", 2),
        ("N.g", "self", 3),
        ("h", None, 1),
    ]


def test_lets_and_consts_fold() -> None:
    assert same(
        "const K = 1024\nconst H = K // 2 ** 3\nlet S = B * H\nlet T = S + 1 - K % 3\ndef f(x: Tensor[B, T, H - 1]): ...",
        "def f(x: Tensor[B, B * 128 + 1 - 1, 127]): ...",
    )
    assert same("const P = 2\ndef f(x: Tensor[B ** P, B]): ...", "def f(x: Tensor[B ** 2, B]): ...")


def test_parenthesized_lets_keep_their_structure() -> None:
    assert written("let S = B + 1\ndef f(x: Tensor[B, 2 * S]): ...") == "def f(x: Tensor[B, 2 * (B + 1)]): ...\n"


def test_dtype_variables() -> None:
    made = one("type F = floating\ntype I = int64\ntype G = F\ndef f(x: F[B], y: I[B], z: F, w: G[B]): ...")
    dtypes = [param.type.dtype for param in made.params if isinstance(param.type, TensorType)]
    assert dtypes == [Dtype("floating", "F"), Dtype("int64"), Dtype("floating", "F"), Dtype("floating", "F")]
    assert same(written("type F = floating\ndef f(x: F[B]): ..."), "type F = floating\ndef f(x: F[B]): ...")


def test_size_parameters_take_any_dim() -> None:
    assert same(
        "type P[A, C] = (Tensor[A, 2 * C], Scalar[C])\ndef f(x: P[_, B + 1], y: P[?K, 3]): ...",
        "def f(x: (Tensor[_, 2 * (B + 1)], Scalar[B + 1]), y: (Tensor[?K, 6], Scalar[3])): ...",
    )
    # a parameter hides a declaration of the same name, and is no name of the type's user
    assert same(
        "dim A hint 3\ntype P[A] = Tensor[A]\ndef f(x: P[B], y: Tensor[A]): ...",
        "dim A hint 3\ndef f(x: Tensor[B], y: Tensor[A]): ...",
    )


def test_static_constants() -> None:
    made = one(
        "const HD, NL in [1, inf] = _\ndef f(x: [Tensor[HD, 2 * HD]] * NL) -> Tensor[VOCAB]:\n    const VOCAB = _\n"
    )
    assert [(v.name, v.kind.value) for v in made.variables] == [("HD", "const"), ("NL", "const"), ("VOCAB", "const")]


def test_overrides() -> None:
    text = "const LIMIT = 8\nconst HD = _\ndef f(x: Tensor[B, HD]): where B < LIMIT"
    report = Report()
    made = read(Source("t", text), report, consts={"LIMIT": 3, "HD": 64})
    assert not report.diagnostics
    assert made == module("def f(x: Tensor[B, 64]): where B < 3")
    assert [d.code for d in findings(text, consts={"LIMI": 3})] == ["unknown-name"]
    assert marked("const HD in [1, 8] = _\ndef f(x: Tensor[HD]): ...", consts={"HD": 9}) == [
        ("contradiction", "[1, 8]")
    ]
    assert [d.code for d in findings("dim B\ndef f(x: Tensor[B]): ...", consts={"B": 3})] == ["unknown-name"]


# ---------------------------------------------------------------------------- wheres of a file


def test_a_files_where_holds_where_its_names_are_bound() -> None:
    made = module(
        "where B < 8, C < 3\nwhere B < 32\nlet S = 2 * C\nwhere S > 1\ndef f(x: Tensor[B]): ...\ndef g(x: Tensor[B, C]): where B > 1"
    )
    wheres = [{c.text for c in s.constraints if c.origin.value == "where"} for s in made]
    assert wheres == [{"B < 32"}, {"B < 8", "C < 3", "B < 32", "S > 1", "B > 1"}]


def test_a_classs_where_stays_in_the_class() -> None:
    made = module("class A:\n    where B < 3\n    def f(self, x: Tensor[B]): ...\ndef g(x: Tensor[B]): ...")
    assert [[c.text for c in s.constraints if c.origin.value == "where"] for s in made] == [["B < 3"], []]


def test_a_where_that_no_def_binds() -> None:
    assert marked("where B < 3, Q < 2\ndef f(x: Tensor[B]): ...") == [("unbound-name", "where B < 3, Q < 2")]


def test_a_shadowed_name_is_not_the_files() -> None:
    text = "dim B\nwhere B < 3\ndef f(x: Tensor[B]):\n    dim B in [0, 9]\ndef g(x: Tensor[B]): ..."
    f, g = module(text).signatures
    assert "B < 3" not in {c.text for c in f.constraints}
    assert "B < 3" in {c.text for c in g.constraints}


# -------------------------------------------------------------------------------------- imports


def read_file(folder: Path, name: str, **options: object) -> tuple[Module, list[str]]:
    report = Report()
    path = folder / f"{name}.shapes"
    made = read(Source(str(path), path.read_text(encoding="utf-8")), report, base=folder, **options)  # type: ignore[arg-type]
    return made, [d.code for d in report]


COMMON = "const LIMIT = 8\ndim B in [0, LIMIT] hint 4\nlet S = 2 * B\ntype KV[N] = (Tensor[B, N], Tensor[S])\ntype F = floating\nint k\n"


def test_imports(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        common=COMMON,
        main="from \"common.shapes\" import (KV, S, F, k,)\nfrom 'common.shapes' import LIMIT\n"
        "def f(x: KV[3], y: F[S + LIMIT], n: Scalar[k]): ...\n",
    )
    made, codes = read_file(tmp_path, "main")
    assert codes == []
    assert made == module(COMMON + "def f(x: KV[3], y: F[S + LIMIT], n: Scalar[k]): ...")


def test_imported_constants_are_overridden_by_file(tmp_path: Path) -> None:
    write_files(
        tmp_path, common=COMMON, main='from "common.shapes" import LIMIT\ndef f(x: Tensor[A]): where A < LIMIT\n'
    )
    made, codes = read_file(tmp_path, "main", consts={"common.shapes:LIMIT": 3})
    assert codes == []
    assert "A < 3" in {write_predicate(c.predicate) for c in made.signatures[0].constraints}
    assert read_file(tmp_path, "main", consts={"LIMIT": 3})[1] == ["unknown-name"]
    assert read_file(tmp_path, "main", consts={"other.shapes:LIMIT": 3})[1] == ["unknown-name"]
    assert read_file(tmp_path, "main", consts={"common.shapes:LIMI": 3})[1] == ["unknown-name"]


@pytest.mark.parametrize("file", ["c.shapes", "../c.shapes", "sub/../c.shapes"])
def test_an_override_reaches_every_importer_of_a_file(tmp_path: Path, file: str) -> None:
    (tmp_path / "sub").mkdir()
    write_files(tmp_path / "sub", b='from "../c.shapes" import L\nlet M = L + 1\n')
    write_files(
        tmp_path,
        c="const L = 3\n",
        a='from "c.shapes" import L\nfrom "sub/b.shapes" import M\ndef f(x: Tensor[L, M]): ...\n',
    )
    made, codes = read_file(tmp_path, "a", consts={f"{file}:L": 10})
    assert codes == []
    assert made == module("def f(x: Tensor[10, 11]): ...")


def test_an_override_names_a_file_that_only_an_import_imports(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write_files(tmp_path / "sub", b='from "../c.shapes" import L\nlet M = L + 1\n')
    write_files(tmp_path, c="const L = 3\n", a='from "sub/b.shapes" import M\ndef f(x: Tensor[M]): ...\n')
    for file in ("c.shapes", str(tmp_path / "c.shapes")):
        made, codes = read_file(tmp_path, "a", consts={f"{file}:L": 10})
        assert (codes, made) == ([], module("def f(x: Tensor[11]): ..."))


class Index:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (1.5, "not-constant"),
        (True, "not-constant"),
        ("3", "not-constant"),
        (None, "not-constant"),
        (2**63, "input-too-large"),
        (-(10**40), "input-too-large"),
    ],
)
def test_what_overrides_a_constant_is_an_int_of_64_bits(value: object, code: str) -> None:
    text = "const A = 3\ndef f(x: Tensor[B]): where B > A\n"
    assert [d.code for d in findings(text, consts={"A": value})] == [code]
    assert [d.code for d in findings(text, consts={3: 1})] == ["not-constant"]
    report = Report()
    assert read(Source("t", text), report, consts={"A": Index()}) == module(text.replace("3", "7"))  # type: ignore[dict-item]
    assert not report.diagnostics


def test_overrides_are_a_mapping() -> None:
    with pytest.raises(TypeError, match="consts maps names to ints; this is list"):
        findings("const A = 3\n", consts=[3])


def test_imports_are_relative_and_transitive(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    write_files(tmp_path / "lib", a='from "../b.shapes" import D\nlet E = 2 * D\n')
    write_files(tmp_path, b="dim D hint 7\n", main='from "lib/a.shapes" import E, D\ndef f(x: Tensor[D, E]): ...\n')
    made, codes = read_file(tmp_path, "main")
    assert codes == []
    assert made == module("dim D hint 7\ndef f(x: Tensor[D, 2 * D]): ...")


def test_import_cycles(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        a='from "b.shapes" import B\ndim A\ndef f(x: Tensor[A, B]): ...\n',
        b='from "a.shapes" import A\ndim B\n',
        me='from "me.shapes" import A\ndim A\n',
    )
    report = Report()
    path = tmp_path / "a.shapes"
    read(Source(str(path), path.read_text()), report, base=tmp_path)
    assert "import-cycle" in {d.code for d in report}
    (found,) = [d for d in report if d.code == "import-cycle"]
    assert found.span is not None
    assert found.span.text == '"a.shapes"'
    assert found.span.source.name.endswith("b.shapes")
    assert "import-cycle" in read_file(tmp_path, "me")[1]


def test_unreadable_imports(tmp_path: Path) -> None:
    (tmp_path / "folder.shapes").mkdir()
    (tmp_path / "latin.shapes").write_bytes(b"# \xe9\n")
    main = "\ndef f(x: Tensor[B]): ...\ndef g(x: Tensor[C]): ...\n"
    for name, code in [
        ("missing", "unreadable-file"),
        ("folder", "unreadable-file"),
        ("latin", "invalid-utf8"),
        ("a\\0b", "unreadable-file"),
    ]:
        write_files(tmp_path, main=f'from "{name}.shapes" import B{main}')
        made, codes = read_file(tmp_path, "main")
        assert codes == [code]
        assert [signature.name for signature in made] == ["g"]  # what uses the import is left out
    assert [d.code for d in findings('from "common.shapes" import B')] == ["unreadable-file"]


def test_errors_of_an_imported_file_name_it(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        common="dim B in [0\nconst C = D\n",
        main='from "common.shapes" import B, Bee\ndef f(x: Tensor[B]): ...\n',
    )
    assert read_file(tmp_path, "main")[1] == ["syntax-error", "unknown-name", "unknown-name"]


# --------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("dim B\ndim B\n", [("duplicate-name", "B")]),
        ("dim B\ntype B = Tensor\n", [("duplicate-name", "B")]),
        ("def f(): ...\ndef f(): ...\n", [("duplicate-name", "f")]),
        ("def f@2(): ...\ndef f(): ...\ndef f@2(): ...\n", [("duplicate-name", "f")]),
        ("class A:\n    def f(self): ...\nclass A:\n    def f(self): ...\n", [("duplicate-name", "f")]),
        ("type float32 = Tensor\n", [("reserved-name", "float32")]),
        ("type Tensor[N] = _\n", [("reserved-name", "Tensor")]),
        ("dim inf\n", [("reserved-name", "inf")]),
        ("let a = a + 1\n", [("definition-cycle", "a")]),
        ("const A = B\n", [("not-constant", "B")]),
        ("type P[N] = Tensor[N]\ndef f(x: P): ...\n", [("type-arity", "P")]),
        ("type P[N] = Tensor[N]\ndef f(x: P[1, 2]): ...\n", [("type-arity", "P[1, 2]")]),
        ("type P = [Tensor]\ndef f(x: P[1]): ...\n", [("type-arity", "P[1]")]),
        ("type P[N] = Tensor[2 * N]\ndef f(x: P[_]): ...\n", [("type-arity", "_")]),
        ("dim B\ndef f(x: B[3]): ...\n", [("unknown-dtype", "B")]),
        ("type P = Tensor\ndef f(x: Tensor[P]): ...\n", [("unknown-name", "P")]),
        ("language 2\n", [("unknown-language-version", "language 2")]),
        ("dim B\nlanguage 1\n", [("syntax-error", "language 1")]),
        ("language 1\nlanguage 1\n", [("duplicate-name", "language 1")]),
        (
            "dim B\nlet S = 2 * B\ndef f(x: Tensor[B, S]):\n    dim B in [0, 3]\n",
            [("ambiguous-name", "S")],
        ),
        ("def f(self: Tensor[B]): ...\nclass A:\n    def f(self: Tensor[B]): ...\n", [("syntax-error", "self")]),
    ],
)  # fmt: skip
def test_wrong_declarations(text: str, found: list[tuple[str, str]]) -> None:
    assert marked(text) == found


def test_an_unused_variable_of_a_def() -> None:
    assert marked("dim Q\ndef f(x: Tensor[B]):\n    dim D hint 3\n    int B") == [("unused-declaration", "D")]
    assert not findings("def f(x: Tensor[B]) -> Tensor[D]:\n    dim D hint 3\n    dim *s\n    rank s = 2")


def test_methods() -> None:
    made = module(
        "class a.Net:\n    def forward(self, x: Tensor[B]): ...\n    def make(cls: object(w: Tensor[D]), x: Tensor[D]): ...\n    def free(x: Tensor[B]): ...\n"
    )
    assert [(s.name, s.receiver, [p.name for p in s.params]) for s in made] == [
        ("a.Net.forward", "self", ["x"]),
        ("a.Net.make", "cls", ["cls", "x"]),
        ("a.Net.free", None, ["x"]),
    ]
    assert module(written("class a.Net:\n    def forward(self, x: Tensor[B]): ...\n")) == module(
        "class a.Net:\n    def forward(self, x: Tensor[B]): ..."
    )


def test_constraints_of_a_declaration() -> None:
    assert constraints("dim B in [1, 8] multiple of 4 plus 2\ndef f(x: Tensor[B]): ...") == {
        "B >= 1",
        "B <= 8",
        "B % 4 == 2",
        "B >= 0",
    }


def test_a_misspelled_declaration_of_a_file() -> None:
    defs = "def f(x: Tensor[Batch, D]): ...\n"
    assert marked(f"dim Bacth in [1, 64]\n{defs}") == [("similar-name", "Bacth")]
    assert marked(f"let batch = 3\n{defs}") == [("similar-name", "batch")]
    assert marked(f"dim Other\n{defs}") == []  # another file may import it
    assert marked(f"dim Bacth, Batch\n{defs}") == []
    assert marked(f"dim Batch1\ndim D\n{defs}") == []
    assert (
        marked(
            "dim Bacth\nlet Sum = 2 * Bacth\ndef f(x: Tensor[Batch], y: Tensor[Sum, Bacth]): ...  # shapedsl: ignore[similar-name]\n"
        )
        == []
    )


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("int", ["scalar-type"]),
        ("bool = _", ["scalar-type"]),
        ("float | None", ["scalar-type"]),
        ("int[...]", []),
        ("int32", []),
        ("Scalar", []),
        ("(bool, int)", []),
    ],
)
def test_a_bare_python_type(type_: str, expected: list[str]) -> None:
    assert [d.code for d in findings(f"def f(n: {type_}): ...\n")] == expected
