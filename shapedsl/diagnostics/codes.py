"""One row per diagnostic code. ``docs/codes/<code>.md`` is its page, and what ``shapedsl explain <code>`` prints."""

from __future__ import annotations

from typing import Final

# The name of the fault -> what a one-line listing says of it.
CODES: Final[dict[str, str]] = {
    # reading files
    "syntax-error": "the text is not shapedsl",
    "unreadable-file": "a file or an import could not be read",
    "invalid-utf8": "the file is not UTF-8 text",
    "missing-extra": "an optional package that this needs is not installed",
    "unknown-language-version": "the file asks for a language version this reader does not know",
    "import-cycle": "files import each other in a circle",
    "input-too-large": "a number, a nesting or a file is beyond what is read",
    "not-formatted": "formatting would have changed what a file says, so it was left alone",
    # expressions
    "true-division": "`/` was written where `//` is meant",
    "maybe-zero-divisor": "a divisor can be 0",
    "not-constant": "a constant is needed here",
    "empty-set": "a set without members accepts nothing",
    "range-needs-two": "a range has two ends",
    "ambiguous-multiple": "`multiple of a + b` reads as `multiple of (a + b)`",
    # names
    "unbound-name": "no parameter binds this name",
    "ambiguous-name": "two declarations of one name are reached",
    "duplicate-name": "a name is declared twice",
    "reserved-name": "the name is reserved",
    "similar-name": "two names look like one",
    "unknown-name": "nothing has this name",
    "unknown-dtype": "not a dtype of torch, nor a family, nor a declared type",
    "unknown-parameter": "the callable has no such parameter",
    "definition-cycle": "a let, const or type is defined by itself",
    "unused-declaration": "a declaration is used by no def",
    # types
    "unsupported-union": "only `T | None` is a union",
    "rank-mismatch": "the number of dims differs",
    "unknown-rank": "the rank must be known here",
    "unknown-length": "the length must be known here",
    "scalar-type": "a bare `int`, `float` or `bool` is a tensor's dtype, no Python number",
    "type-arity": "the type takes another number of sizes",
    "conflicting-sources": "two sources disagree about a parameter",
    "ignored-metadata": "annotation metadata that does not parse as shapes",
    "unresolved-annotation": "an annotation could not be resolved",
    "inexpressible": "another notation says what this language cannot",
    "unknown-dialect": "a stub is written for another version of its notation than the one that is read",
    # meaning
    "contradiction": "no shape satisfies the spec",
    "negative-dim": "a dim is negative for every size",
    "negative-int": "torch cannot take an int that may be negative here",
    "not-invertible": "a variable cannot be computed from its only uses",
    "hint-out-of-range": "a hint outside the declared range or residue",
    "undecided": "could not be proved or refuted",
    "redundant": "a constraint follows from others, or always holds",
    # alternatives
    "unreachable-case": "no sizes reach this alternative",
    "case-overlap": "sizes satisfy two alternatives, and neither contains the other",
    "case-gap": "sizes that no alternative takes",
    "cases-not-lowered": "only the `where` part was lowered",
    "unknown-case": "the spec has no alternative of this name",
    # buckets
    "bucket-without-return": "sizes are padded, and nothing says where the result has padded slots",
    "unpadded-argument": "an argument grows with a bucketed size, and no pad names it",
    "wrong-pad": "a pad does not fit what it names",
    "return-mismatch": "a result is something else than the return type claims",
    # padding
    "unknown-reason": "no reason for which padding would be sound has this name",
    "unchecked-padding": "padding has no reason, and passed no check",
    "unsafe-padding": "padding changes results",
    # specs and callables
    "ambiguous-spec": "several specs could be meant",
    "unknown-spec": "no spec of this name, or none at all",
    "spec-ignored": "torch would not see the attached spec",
    "unsupported-by-torch": "torch cannot express this, so it is refused",
    # versions
    "breaking-change": "the new version refuses what the old one took",
    "compatible-change": "the new version differs, and refuses nothing that the old one took",
    # run time
    "shape-violation": "an input does not satisfy the spec",
    "dtype-mismatch": "an input has another dtype",
    "type-mismatch": "an input is of another kind",
    # serving
    "no-alternative": "an input has sizes that no alternative takes",
    "failed-artifact": "an artifact cannot be compiled, so its sizes run without it",
    "backed-lowering": "an artifact is lowered backed, since the unbacked one fails",
    # exported artifacts
    "no-program": "nothing was exported for arguments like these",
    "damaged-artifacts": "a file is no whole bundle of artifacts",
    "other-platform": "artifacts were saved by another torch, or for another machine",
    "wrong-artifact": "an artifact computes something else than the module",
    "stale-artifact": "artifacts were made with another version of their spec",
    # profiles
    "empty-profile": "a profile has no calls to learn from",
    "damaged-profile": "a file is no whole profile",
    # examples
    "missing-input": "an example has to be given what is static",
    "too-many-elements": "an example would need too much memory",
    # programs
    "merged-dims": "the program made two sizes one",
    "specialized-dim": "the program pinned a size",
    "extra-assumption": "the program demands what the spec does not imply",
    "lost-assumption": "an artifact accepts what the spec forbids",
    "data-dependent": "the program branches on a size that the spec leaves open",
    "graph-break": "torch cannot trace the program in one graph",
    "recompiled": "the program needs a graph for each value of what the spec leaves static",
    # legacy specs
    "legacy-flow": "a legacy spec is made by code that reading does not follow",
    "legacy-parameter": "a legacy spec does not fit the parameters or the inputs",
    "legacy-bounds": "two legacy dims of one name have two ranges, or one has an empty range",
    "legacy-names": "a name in a legacy spec is no name of the language, or names nothing",
    "legacy-object-keys": "an object is registered without the names of its attributes",
    "legacy-top-level": "a legacy spec does not begin with the parameters",
    "legacy-choice": "a legacy spec leaves open what the new one must say",
    "legacy-loss": "something in a legacy spec has no counterpart",
    "legacy-stricter": "the new spec rejects sizes that the legacy program ran",
    "legacy-probe": "the export that was to settle a legacy spec failed",
    "legacy-note": "a remark on a conversion, which changes nothing",
    "skipped-file": "a file is not converted",
    "changed-since": "a file was changed since it was converted, so that is not taken back",
}
