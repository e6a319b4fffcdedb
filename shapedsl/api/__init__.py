"""The façade: what users import. It composes the stages, and raises what they report."""

from .answers import Answer, SizeRange
from .attaching import attach
from .bundles import export_cases, load_artifacts, save_artifacts
from .comparing import Change, Comparison, FileComparison, compare
from .cured import Cured
from .curing import cure
from .dispatching import dispatch
from .entries import checker_of, compile, export, lower_attached, make_fx
from .explaining_errors import explain_error
from .legacy import Converted, from_dims
from .library import Listed, listed_text, listing, stub_for
from .observing import observe
from .padding import check_padding
from .programs import from_exported
from .sources import as_spec, from_json, from_torch, load, loads, spec_of
from .spec import Spec
from .spec_file import SpecFile
from .stubs import from_stub
from .suggesting import Profile, Suggestion, suggest
from .verifying import Verification, verify

__all__ = [
    "Answer",
    "Change",
    "Comparison",
    "Converted",
    "Cured",
    "FileComparison",
    "Listed",
    "Profile",
    "SizeRange",
    "Spec",
    "SpecFile",
    "Suggestion",
    "Verification",
    "as_spec",
    "attach",
    "check_padding",
    "checker_of",
    "compare",
    "compile",
    "cure",
    "dispatch",
    "explain_error",
    "export",
    "export_cases",
    "from_dims",
    "from_exported",
    "from_json",
    "from_stub",
    "from_torch",
    "listed_text",
    "listing",
    "load",
    "load_artifacts",
    "loads",
    "lower_attached",
    "make_fx",
    "observe",
    "save_artifacts",
    "spec_of",
    "stub_for",
    "suggest",
    "verify",
]
