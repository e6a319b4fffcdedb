"""The command line: ``shapedsl VERB …``, one module a verb, loaded when it is asked for.

Exit codes are the same for all: 0 clean or proved, 1 findings, 2 misuse, 3 only undecided.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

import click

_VERSION: Final[str] = sys.modules[__name__.partition(".")[0]].__version__

# verb -> its line in the list; the module of its name defines `command`.
VERBS: Final = {
    "check": "Report everything that is wrong with .shapes files.",
    "fmt": "Rewrite .shapes files in the one layout.",
    "explain": "Show what a spec means, stage by stage; or explain a code.",
    "ask": "Ask whether a spec implies a predicate, or what a size can be.",
    "diff": "Say whether a new version of a spec breaks the callers of the old one.",
    "lower": "Print Python that builds torch's ShapesSpec.",
    "convert": "Rewrite legacy torch.export.Dim specs in Python files.",
    "stubs": "Read specs from .pyi stubs and annotated Python files.",
    "cure": "Find the assumptions under which a function or a module can be traced.",
    "verify": "Say whether artifacts keep a spec, and compute what the original does.",
    "check-padding": "Say whether padding changes what a function or a module returns.",
    "profile": "Show what sizes observed calls had.",
    "suggest": "Infer a spec, cases and buckets from observed calls.",
    "plot": "Draw observed sizes, and what cases and buckets take.",
    "demo": "Take a first spec through compile, export and make_fx.",
    "completion": "Print a completion script for the shell.",
}


class _Verbs(click.Group):
    """Finds verbs by module name, so that ``fmt`` need not import what ``demo`` needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the verbs, in the order of the pipeline."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a verb's command, or None if there is no such verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        command = import_module(f".{cmd_name.replace('-', '_')}", __name__).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the verb; of a wrong one, says what was probably meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"the commands are {', '.join(VERBS)}."
            raise click.UsageError(f"there is no command '{args[0]}': {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 clean, 1 findings, 2 misuse, 3 only undecided. '-' is standard input.",
)
@click.version_option(_VERSION, "-V", "--version", prog_name="shapedsl", message="%(prog)s %(version)s")
def group() -> None:
    """Specs of tensor shapes, for torch.compile, torch.export and make_fx.

    \b
    shapedsl check net.shapes                 what is wrong with it?
    shapedsl fmt net.shapes                   put it in order
    shapedsl explain net.shapes B=5 S=40      what does it mean, and for these sizes?
    shapedsl ask net.shapes "B % 8 == 0"      does it follow?
    shapedsl diff --git HEAD net.shapes       does a change break callers?
    shapedsl lower net.shapes                 the ShapesSpec, as Python
    shapedsl convert src                      what becomes of torch.export.Dim specs?
    shapedsl stubs net.pyi                    the specs of a stub, or of annotated Python
    shapedsl cure net:model net.shapes        what must be assumed to trace it?
    shapedsl check-padding net:model net.shapes   does padding change its results?
    shapedsl profile traffic.json             what sizes did calls have?
    shapedsl suggest traffic.json -k 8        which spec, and which buckets?
    shapedsl explain contradiction            what does this code mean?
    """


def main() -> None:
    """The entry point of the ``shapedsl`` command."""
    try:
        group(prog_name="shapedsl")
    except SystemExit as done:
        try:
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):  # the reader went away, or there is no standard output
            _silence()
            if not done.code:
                raise SystemExit(1) from None
        raise
    except OSError as error:  # a full disk
        _silence()
        sys.stderr.write(f"shapedsl: {error.strerror or error}\n")
        raise SystemExit(2) from None


def _silence() -> None:
    """Keeps the interpreter from flushing a broken standard output again at its end."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        sys.stdout = None
