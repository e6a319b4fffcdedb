"""What is claimed of a real model and its file in ``docs/examples/``.

An `Entry` is a model with random weights, tiny and made from a config, inputs for given sizes, sizes of each alternative
of its spec, and calls that the spec refuses::

    Entry(
        "BertModel",
        "bert.shapes",
        make=lambda: BertModel(config),
        inputs=lambda B, S: ((), {"input_ids": ids(B, S), "attention_mask": ones(B, S)}),
        sizes={"one": ({"B": 2, "S": 1}, …), "otherwise": ({"B": 2, "S": 8}, …)},
        bad=({"B": 2, "S": 513},),
        consts={"WIDTH": 16},
        cures=("S >= 2",),
    )

A module of entries ends with its tuple ``ENTRIES``; ``table.MODULES`` names those modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import shapedsl as sd

Sizes: TypeAlias = "Mapping[str, Any]"
Call: TypeAlias = "tuple[tuple[Any, ...], dict[str, Any]]"

FILES = Path(__file__).parents[3] / "docs/examples"
WHOLE = ""  # the key of `Entry.sizes` for a spec without alternatives


@dataclass(frozen=True)
class Entry:
    """A claim about one spec of one model.

    Attributes:
        name: The row's name, unique: the class, and what is special.
        spec: The file in ``docs/examples/``, and which of its specs: ``"llama.shapes:decode"``.
        make: Returns the model, tiny and random, ready to run.
        inputs: Sizes → ``(args, kwargs)`` of a call; equal sizes give equal inputs, and new ones at each call.
        sizes: For each alternative that is compiled (``"otherwise"`` too), sizes that run in one graph; together at
            least six. The first of each is the example. A spec without alternatives has them under ``WHOLE``.
        bad: Sizes, or other arguments of ``inputs``, of calls that the spec refuses before torch sees them.
        consts: Constants of the file that are others in the tiny model.
        cures: What the file assumes because a trace asks for it, as `sd.cure` writes it: ``S >= 2``. An assumption of
            the ``where`` part that stands here is not in the bare spec.
        cured_by: The entry points for which `sd.cure` finds them.
        narrower: Why the file's last alternative takes less than what they leave, where it does.
        static: Sizes that the cure makes static, where it is told to.
        members: For an alternative with buckets, how many members its sizes are padded to. Each is an artifact of its
            own; none is a program, since buckets are for `sd.dispatch`.
        drops: Tensors of the result that are None in a padded call, by number.
        changes: Whether a call changes its arguments, as a cache that grows. A program returns them changed instead.
        lowering: ``"backed"`` where inductor is wrong with unbacked dims.
        backend: What the artifacts of the table are compiled with.
        compiles: Whether ``sd.compile`` takes it; else ``note`` says why not.
        exports: Whether ``sd.export`` takes it, likewise.
        tolerance: The largest error that passes, relative to the largest value (and at least absolute).
        note: What a reader of the table should know.
        dynamo: Options of ``torch._dynamo.config`` that torch needs in order to compile it at all.
    """

    name: str
    spec: str
    make: Callable[[], Any]
    inputs: Callable[..., Call]
    sizes: Mapping[str, tuple[Sizes, ...]]
    bad: tuple[Sizes, ...]
    consts: Mapping[str, int] = field(default_factory=dict[str, int])
    cures: tuple[str, ...] = ()
    cured_by: tuple[str, ...] = ("export", "compile")
    narrower: str = ""
    static: tuple[str, ...] = ()
    members: Mapping[str, int] = field(default_factory=dict[str, int])
    drops: tuple[int, ...] = ()
    changes: bool = False
    lowering: str = "unbacked"
    backend: str = "inductor"
    compiles: bool = True
    exports: bool = True
    tolerance: float = 1e-4
    note: str = ""
    dynamo: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def path(self) -> Path:
        """The file."""
        return FILES / self.spec.partition(":")[0]

    @property
    def programs(self) -> Mapping[str | None, tuple[Sizes, ...]]:
        """What `sd.export` calls the alternatives that are exported, ``case=``, and their sizes.

        Buckets have no programs, and decide which sizes reach the alternatives behind them: in place of those it is the
        ``where`` part, for all sizes.
        """
        if not self.exports:
            return {}
        found: dict[str | None, tuple[Sizes, ...]] = {}
        for case, sizes in self.sizes.items():
            if case in self.members:
                return {**found, None: self.good()}
            found[case or None] = sizes
        return found

    @property
    def cases(self) -> tuple[str | None, ...]:
        """The keys of `programs`."""
        return tuple(self.programs)

    @property
    def graphs(self) -> int:
        """How many graphs serve all sizes: one an alternative, or one a member of its bucket."""
        return sum(self.members.get(case, 1) for case in self.sizes) if self.compiles else 0

    @property
    def artifacts(self) -> int:
        """How many compiled artifacts and programs there are."""
        return self.graphs + len(self.cases)

    def good(self) -> tuple[Sizes, ...]:
        """Returns the sizes of all alternatives."""
        return tuple(each for sizes in self.sizes.values() for each in sizes)

    def written(self) -> sd.Spec:
        """Returns the spec as the file has it, at the model's constants."""
        file = sd.load(self.path, consts=self.consts)
        name = self.spec.partition(":")[2]
        found = [key for key in file if not name or key == name or key.rpartition(".")[2] == name]
        assert len(found) == 1, f"{self.spec}: {', '.join(file)}"
        return file[found[0]]

    def lowered(self, case: str | None) -> sd.Spec:
        """Returns the spec of a program: where it is of no alternative, the ``where`` part alone."""
        written = self.written()
        return sd.Spec(replace(written.signature, alternatives=())) if case is None else written

    def bare(self) -> sd.Spec:
        """Returns the spec without what was added so that it can be traced: no alternatives, no `cures`."""
        signature = self.written().signature
        kept = tuple(each for each in signature.constraints if each.text not in self.cures)
        return sd.Spec(replace(signature, constraints=kept, alternatives=()))


__all__ = ["FILES", "WHOLE", "Call", "Entry", "Sizes"]
